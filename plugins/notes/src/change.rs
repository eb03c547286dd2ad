//! What a call would do to one note: worked out from an order and what is there, then shown or carried out.

use toolbay_plugin_api::{Context, Failure, Reply, WriteKind};

use crate::{
    folder::{Folder, FolderError, MAX_NOTE, MAX_NOTES, Note},
    locked::{Landed, Locked, WriteError},
    name::NoteName,
    order::{Order, Text},
    provider::Notes,
    text::counted,
};

/// What a note is called in records of writes.
const TARGET: &str = "note";

/// Why an order can't be carried out as things are.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ChangeError {
    /// The note or the folder is not as it must be.
    ///
    /// Resolution: that of the folder's error.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The note is there already.
    ///
    /// Resolution: choose another name, or append to the note.
    #[error(
        "there is a note {name:?} already{}", if *same { ", with exactly this text" } else { "; choose another name, or add to it with notes_append" }
    )]
    Exists {
        /// The name that was asked for.
        name: String,
        /// Whether it has the text that was to be written.
        same: bool,
    },
    /// A file's name differs from the note's only in its form of Unicode.
    ///
    /// Resolution: rename the file, or choose another name.
    #[error(
        "a file that looks as if it were called {name:?} is there already, in another form of Unicode; choose another name, or tell the \
         operator"
    )]
    LooksAlike {
        /// The name that was asked for.
        name: String,
    },
    /// There are as many notes as there may be.
    ///
    /// Resolution: delete some.
    #[error("there are {MAX_NOTES} notes, which is the most; add to one of them with notes_append")]
    Full,
    /// The note would have more bytes than a note may have.
    ///
    /// Resolution: begin another note.
    #[error(
        "the note {name:?} would have {found} bytes, expected at most {MAX_NOTE}; begin another note"
    )]
    Outgrown {
        /// The name of the note.
        name: String,
        /// The bytes that it would have.
        found: usize,
    },
}

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Folder(error) => error.into(),
            other => Self::new(other.to_string()),
        }
    }
}

/// What a call would do to one note.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) name: NoteName,
    pub(crate) step: Step,
}

/// What becomes of the note.
#[derive(Debug)]
pub(crate) enum Step {
    /// It is made.
    Create(Text),
    /// It becomes longer.
    Append {
        before: Note,
        /// What is added.
        text: Text,
        /// All of it.
        after: Vec<u8>,
    },
    /// It is removed.
    Delete(Note),
}

impl Change {
    /// Works out what the order would do to what is there now.
    pub(crate) fn new(
        order: Order,
        folder: &Folder,
        context: &Context<'_>,
    ) -> Result<Self, ChangeError> {
        Ok(match order {
            Order::Create(name, text) => {
                check_free(&name, &text, folder)?;
                check_room(&name, folder, context)?;
                Self { name, step: Step::Create(text) }
            }
            Order::Append(name, text) => {
                let before = folder.read(&name)?;
                let after = joined(&before.bytes, &text);
                if after.len() > MAX_NOTE {
                    let found = after.len();
                    return Err(ChangeError::Outgrown { name: name.to_string(), found });
                }
                Self { name, step: Step::Append { before, text, after } }
            }
            Order::Delete(name) => {
                let before = folder.read(&name)?;
                Self { name, step: Step::Delete(before) }
            }
        })
    }

    fn carry_out(&self, folder: &Locked) -> Result<Landed, WriteError> {
        match &self.step {
            Step::Create(text) => folder.create(&self.name, text.as_bytes()),
            Step::Append { before, after, .. } => folder.replace(&self.name, before, after),
            Step::Delete(_) => folder.delete(&self.name),
        }
    }

    /// What is told of it once it is done.
    fn reply(&self, landed: Landed) -> Reply {
        let name = self.name.as_str();
        let (kind, mut words) = match &self.step {
            Step::Create(text) => {
                let bytes = counted(text.as_bytes().len(), "byte");
                (WriteKind::Created, format!("There is a note {name:?} now, with {bytes}."))
            }
            Step::Append { before, after, .. } => {
                let (bytes, added) =
                    (counted(after.len(), "byte"), after.len() - before.bytes.len());
                (
                    WriteKind::Updated,
                    format!("The note {name:?} has {bytes} now, {added} more than before."),
                )
            }
            Step::Delete(before) => {
                let bytes = counted(before.bytes.len(), "byte");
                (WriteKind::Deleted, format!("The note {name:?} is gone. It had {bytes}."))
            }
        };
        if !landed.is_on_disk {
            words.push_str(" It is done, but may not survive a loss of power.");
        }
        let reply = Reply::text(words).wrote(kind, TARGET, self.name.file());
        if landed.is_on_disk { reply } else { reply.hook_failed() }
    }
}

/// Does what a writer was asked to do.
pub(crate) fn carry_out(
    notes: &Notes,
    order: Order,
    context: &Context<'_>,
) -> Result<Reply, Failure> {
    let locked = Locked::new(notes.folder()?, context)?;
    let change = Change::new(order, locked.folder(), context)?;
    if context.is_cancelled() {
        return Err(Failure::cancelled());
    }
    let landed = change.carry_out(&locked)?;
    Ok(change.reply(landed))
}

/// The text after what is there, on a line of its own.
fn joined(before: &[u8], text: &Text) -> Vec<u8> {
    let mut after = before.to_vec();
    if !before.is_empty() && !before.ends_with(b"\n") {
        after.push(b'\n');
    }
    after.extend_from_slice(text.as_bytes());
    after
}

/// Checks that nothing has the name.
fn check_free(name: &NoteName, text: &Text, folder: &Folder) -> Result<(), ChangeError> {
    if !folder.has(name)? {
        return Ok(());
    }
    let exists = |same| Err(ChangeError::Exists { name: name.to_string(), same });
    match folder.read(name) {
        Ok(note) => exists(note.bytes == text.as_bytes()),
        Err(error @ FolderError::NotRegular { .. }) => Err(error.into()),
        Err(_) => exists(false),
    }
}

/// Checks that there may be one more note, and none that could be taken for it.
fn check_room(name: &NoteName, folder: &Folder, context: &Context<'_>) -> Result<(), ChangeError> {
    let mut notes = 0;
    for file in folder.files()? {
        let file = file?;
        if context.is_cancelled() {
            return Err(FolderError::Cancelled.into());
        }
        if name.looks_like(&file) {
            return Err(ChangeError::LooksAlike { name: name.to_string() });
        }
        notes += usize::from(NoteName::of_file(&file).is_some());
        if notes >= MAX_NOTES {
            return Err(ChangeError::Full);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_may_not_survive_is_no_failure() {
        let Order::Create(name, text) = Order::create("list", "milk".to_owned()).unwrap() else {
            panic!("another order");
        };
        let change = Change { name, step: Step::Create(text) };
        for (is_on_disk, words) in [
            (true, "There is a note \"list\" now, with 5 bytes."),
            (
                false,
                "There is a note \"list\" now, with 5 bytes. It is done, but may not survive a loss of power.",
            ),
        ] {
            // A reply is read by hosts alone.
            let reply = format!("{:?}", change.reply(Landed { is_on_disk }));
            assert!(reply.contains(&format!("text: {words:?}")), "{reply}");
            assert_eq!(reply.contains("hook_failed: true"), !is_on_disk, "{reply}");
        }
    }
}
