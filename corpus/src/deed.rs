//! What native code can do to the process that it runs in, by the words that name it.

macro_rules! deeds {
    ($($name:ident, $word:literal, $number:literal, $does:literal;)*) => {
        /// Something that native code can do to its process. The provider knows it by its [word](Self::word).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Deed {
            $(#[doc = $does] $name,)*
        }

        impl Deed {
            /// All of them; the first is the benign twin of all others.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word that libraries, configurations and arguments name it with.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }

            /// What it does, in a line.
            pub const fn does(self) -> &'static str {
                match self { $(Self::$name => $does),* }
            }

            /// The number of its kind in the list of the README.
            pub const fn number(self) -> &'static str {
                match self { $(Self::$name => $number),* }
            }
        }
    };
}

deeds! {
    Nothing, "nothing", "", "Does nothing.";
    Exit0, "exit_0", "F15", "Ends its process as if all were well, with `exit(0)`.";
    ExitNow, "exit_now", "F15", "Ends its process at once, with `_exit(0)`.";
    Abort, "abort", "F15", "Aborts.";
    Segfault, "segfault", "F15", "Writes to an address where nothing is mapped.";
    Overflow, "overflow", "F15", "Uses up its stack.";
    Illegal, "illegal", "F15", "Raises SIGILL, as code does that must not be reached.";
    Hang, "hang", "F70", "Sleeps and does not come back.";
    Spin, "spin", "F15", "Computes and does not come back.";
    Hunger, "hunger", "F15", "Takes all memory that there is.";
    Panic, "panic", "F10", "Panics.";
    Print, "print", "F14", "Prints, half a JSON-RPC message among it.";
    Flood, "flood", "F14", "Writes 100 MB to standard output.";
    PrintUnflushed, "print_unflushed", "F14", "Leaves something in the C library's buffer of standard output.";
    IgnoreTerm, "ignore_term", "F42", "Ignores SIGTERM and does not come back.";
    Child, "child", "F40", "Starts a process that does not end, and keeps what it has inherited.";
    Daemon, "daemon", "F42", "Starts a process that leaves its session and does not end.";
    ForkExit, "fork_exit", "F76", "Goes on in a copy of its process, which has all that was open, and ends itself.";
    CloseAll, "close_all", "F42", "Closes everything that is open, and does not come back.";
    KillParent, "kill_parent", "F42", "Kills whoever has started its process.";
    Garbage, "garbage", "F43", "Writes garbage to every connection of its process.";
    HalfFrame, "half_frame", "F43", "Writes half of a message to every connection of its process.";
    TwoFrames, "two_frames", "F43", "Writes two messages to every connection of its process.";
    CrashAtExit, "crash_at_exit", "F16", "Registers a function that crashes when the process ends.";
    HangAtExit, "hang_at_exit", "F16", "Registers a function that does not come back when the process ends.";
    Handlers, "handlers", "F50", "Handles SIGSEGV, SIGPIPE and SIGCHLD itself.";
    BlockSignals, "block_signals", "F50", "Blocks SIGTERM and SIGCHLD.";
    Denormals, "denormals", "F51", "Lets denormal numbers count as zero.";
    Locale, "locale", "F52", "Sets the locale.";
    Surroundings, "surroundings", "F52", "Changes working directory, umask and environment.";
    Limits, "limits", "F52", "Lowers the number of files that may be open.";
    Undumpable, "undumpable", "F52", "Makes its process one that nobody may trace.";
    CloseStreams, "close_streams", "F52", "Closes standard input, output and error.";
    OtherOutput, "other_output", "F52", "Leads standard output elsewhere.";
    Descriptors, "descriptors", "F52", "Leaves five files open.";
    Threads, "threads", "F52", "Leaves fifty threads.";
    JoinedThread, "joined_thread", "", "Starts a thread and waits for its end.";
    ThreadLocal, "thread_local", "F13", "Leaves a value with a destructor to the thread.";
    LogOn, "log_on", "F24", "Leaves a thread that goes on logging into the host.";
}

impl Deed {
    /// The deed of this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|deed| deed.word() == word)
    }
}
