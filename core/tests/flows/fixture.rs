//! A pipeline over fake tools, with a sink that keeps what it gets and a clock that counts its readings.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use toolbay_core::{
    Access, Actor, AuditError, AuditRecord, AuditSink, BackendError, CallError, CallRequest,
    Caller, Clock, DecisionRecord, Declarations, DefinitionParts, Effect, Limits, Offer,
    OfferedTool, Origin, Outcome, Pipeline, PipelineConfig, Plan, RawReply, Reply, ReplyStatus,
    Schema, ToolBackend, ToolDefinition, ValidCall,
};

type Invoke = dyn Fn(&ValidCall<'_>) -> Result<RawReply, BackendError> + Send + Sync;
type Preview = dyn Fn(&ValidCall<'_>) -> Result<Option<Vec<String>>, BackendError> + Send + Sync;

/// A backend that does what the test says, and counts how often.
pub(crate) struct Fake {
    invoke: Box<Invoke>,
    preview: Box<Preview>,
    invocations: AtomicUsize,
    previews: AtomicUsize,
}

impl Fake {
    pub(crate) fn new(
        invoke: impl Fn(&ValidCall<'_>) -> Result<RawReply, BackendError> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::with_preview(invoke, |_| Ok(None))
    }

    pub(crate) fn with_preview(
        invoke: impl Fn(&ValidCall<'_>) -> Result<RawReply, BackendError> + Send + Sync + 'static,
        preview: impl Fn(&ValidCall<'_>) -> Result<Option<Vec<String>>, BackendError>
        + Send
        + Sync
        + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            invoke: Box::new(invoke),
            preview: Box::new(preview),
            invocations: AtomicUsize::new(0),
            previews: AtomicUsize::new(0),
        })
    }

    /// One that answers with the arguments that reach it.
    pub(crate) fn echo() -> Arc<Self> {
        Self::new(|call| Ok(RawReply::text(ReplyStatus::Ok, call.arguments().as_bytes().to_vec())))
    }

    /// One that answers with its own text, whatever it is asked.
    pub(crate) fn says(text: &'static str) -> Arc<Self> {
        Self::new(move |_| Ok(RawReply::text(ReplyStatus::Ok, text)))
    }

    pub(crate) fn invocations(&self) -> usize {
        self.invocations.load(Ordering::Relaxed)
    }

    pub(crate) fn previews(&self) -> usize {
        self.previews.load(Ordering::Relaxed)
    }
}

impl ToolBackend for Fake {
    fn invoke(&self, call: &ValidCall<'_>) -> Result<RawReply, BackendError> {
        self.invocations.fetch_add(1, Ordering::Relaxed);
        (self.invoke)(call)
    }

    fn preview(&self, call: &ValidCall<'_>) -> Result<Option<Vec<String>>, BackendError> {
        self.previews.fetch_add(1, Ordering::Relaxed);
        (self.preview)(call)
    }
}

/// A tool that anybody may call: it reads, is on and takes any object.
pub(crate) fn reader(name: &str) -> DefinitionParts {
    DefinitionParts {
        name: name.parse().unwrap(),
        aliases: Vec::new(),
        label: None,
        summary: None,
        description: format!("The tool {name}."),
        schema: Schema::parse(r#"{"type":"object"}"#).unwrap(),
        output_schema: None,
        declarations: Declarations {
            effect: Effect::ReadOnly,
            enabled_by_default: true,
            requires_approval: false,
            ..Declarations::default()
        },
    }
}

pub(crate) fn with_schema(name: &str, schema: &str) -> DefinitionParts {
    DefinitionParts { schema: Schema::parse(schema).unwrap(), ..reader(name) }
}

pub(crate) fn with_aliases(name: &str, aliases: &[&str]) -> DefinitionParts {
    let aliases = aliases.iter().map(|alias| alias.parse().unwrap()).collect();
    DefinitionParts { aliases, ..reader(name) }
}

pub(crate) fn offered(parts: DefinitionParts, backend: Arc<Fake>) -> OfferedTool {
    OfferedTool { definition: Arc::new(ToolDefinition::new(parts).unwrap()), backend }
}

/// The offer of a provider whose tools all say the provider's name.
pub(crate) fn offer(
    provider: &'static str,
    tools: impl IntoIterator<Item = DefinitionParts>,
) -> Offer {
    Offer {
        provider: provider.parse().unwrap(),
        version: "1.0.0".to_owned(),
        content: "1.0.0".to_owned(),
        origin: Origin::Local,
        tools: tools.into_iter().map(|parts| offered(parts, Fake::says(provider))).collect(),
    }
}

pub(crate) fn user(name: &str, admin: bool) -> Caller {
    Caller::new(Actor::User { name: name.parse().unwrap(), admin })
}

pub(crate) fn anonymous() -> Caller {
    Caller::new(Actor::Anonymous)
}

/// What a test looks at of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) tool: String,
    pub(crate) provider: Option<String>,
    pub(crate) actor: String,
    pub(crate) agent: Option<String>,
    pub(crate) run: Option<String>,
    pub(crate) effect: Option<Effect>,
    pub(crate) outcome: Outcome,
    pub(crate) reason: Option<&'static str>,
    pub(crate) observed_only: bool,
    pub(crate) code: Option<&'static str>,
    pub(crate) approval: Option<String>,
    pub(crate) started: Duration,
    pub(crate) duration: Duration,
    pub(crate) bytes: (usize, usize),
    pub(crate) arguments: String,
    pub(crate) generation: u64,
}

/// Keeps the records of calls, and those of decisions unless it is told to refuse them.
#[derive(Default)]
pub(crate) struct Records {
    calls: Mutex<Vec<Recorded>>,
    decisions: Mutex<Vec<(String, Option<String>)>>,
    refuses_decisions: AtomicBool,
}

impl Records {
    pub(crate) fn calls(&self) -> Vec<Recorded> {
        self.calls.lock().unwrap().clone()
    }

    /// What was decided and done, as `actor kind subject, request of owner`.
    pub(crate) fn decisions(&self) -> Vec<String> {
        self.decided(|refused| refused.is_none())
    }

    /// What was decided and not done, in the same form, with the code of the error.
    pub(crate) fn refusals(&self) -> Vec<String> {
        self.decided(|refused| refused.is_some())
    }

    fn decided(&self, wanted: impl Fn(Option<&str>) -> bool) -> Vec<String> {
        let decisions = self.decisions.lock().unwrap();
        let wanted = decisions.iter().filter(|(_, refused)| wanted(refused.as_deref()));
        wanted
            .map(|(text, refused)| match refused {
                Some(code) => format!("{text}: {code}"),
                None => text.clone(),
            })
            .collect()
    }

    pub(crate) fn refuse_decisions(&self, refuse: bool) {
        self.refuses_decisions.store(refuse, Ordering::Relaxed);
    }
}

impl AuditSink for Records {
    fn record(&self, record: &AuditRecord<'_>) {
        self.calls.lock().unwrap().push(Recorded {
            tool: record.tool.to_owned(),
            provider: record.provider.map(ToString::to_string),
            actor: record.actor.to_owned(),
            agent: record.agent.map(ToString::to_string),
            run: record.run.map(ToString::to_string),
            effect: record.effect,
            outcome: record.outcome,
            reason: record.reason.map(|reason| reason.as_str()),
            observed_only: record.observed_only,
            code: record.code,
            approval: record.approval.map(ToString::to_string),
            started: record.started,
            duration: record.duration,
            bytes: (record.argument_bytes, record.reply_bytes),
            arguments: record.arguments.to_owned(),
            generation: record.generation,
        });
    }

    fn decide(&self, decision: &DecisionRecord<'_>) -> Result<(), AuditError> {
        if self.refuses_decisions.load(Ordering::Relaxed) {
            return Err(io::Error::from(io::ErrorKind::StorageFull).into());
        }
        let DecisionRecord { kind, subject, actor, approval, owner, .. } = decision;
        let (approval, owner) = (approval.unwrap(), owner.unwrap());
        let line = format!("{actor} {} {subject}, {approval} of {owner}", kind.as_str());
        let refused = decision.refused.map(str::to_owned);
        self.decisions.lock().unwrap().push((line, refused));
        Ok(())
    }
}

/// A clock that is one second later at each reading.
#[derive(Default)]
struct Counting(AtomicU64);

impl Clock for Counting {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

pub(crate) struct Bench {
    pub(crate) pipeline: Pipeline,
    records: Arc<Records>,
}

impl Bench {
    pub(crate) fn new(plugins: Vec<Offer>) -> Self {
        Self::with_limits(plugins, Limits::default())
    }

    pub(crate) fn with_limits(plugins: Vec<Offer>, limits: Limits) -> Self {
        Self::with_clock(plugins, limits, Arc::new(Counting::default()))
    }

    pub(crate) fn with_clock(plugins: Vec<Offer>, limits: Limits, clock: Arc<dyn Clock>) -> Self {
        let records = Arc::new(Records::default());
        let sink = Arc::clone(&records) as Arc<dyn AuditSink>;
        let pipeline = Pipeline::new(PipelineConfig { limits, ..PipelineConfig::new(sink, clock) });
        let (plan, collisions) = Plan::new(offer("core", []), plugins).unwrap();
        assert_eq!(collisions, []);
        pipeline.registry().replace(plan.commit(7, &Access::default()));
        Self { pipeline, records }
    }

    /// A pipeline whose only tool is this one, of the provider `acme`.
    pub(crate) fn of(parts: DefinitionParts, backend: Arc<Fake>) -> Self {
        Self::new(vec![Offer { tools: vec![offered(parts, backend)], ..offer("acme", []) }])
    }

    pub(crate) fn call(&self, tool: &str, arguments: &str) -> Result<Reply, CallError> {
        self.pipeline.call(&CallRequest::new(tool, arguments, &anonymous()))
    }

    /// How the calls ended that are recorded, as `tool outcome code`.
    pub(crate) fn ended(&self) -> Vec<String> {
        let line = |record: &Recorded| {
            format!("{} {} {}", record.tool, record.outcome, record.code.unwrap_or("-"))
        };
        self.records.calls().iter().map(line).collect()
    }

    /// The only record there is.
    pub(crate) fn record(&self) -> Recorded {
        let records = self.records.calls();
        assert_eq!(records.len(), 1, "{records:?}");
        records[0].clone()
    }
}
