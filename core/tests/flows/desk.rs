//! A pipeline whose calls wait for a person, and everything that looks on: store, records, listener, and a clock that the test moves.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use toolbay_core::{
    Access, Actor, Agent, ApprovalError, ApprovalId, Approvals, CallError, CallRequest, Caller,
    Clock, Decided, Decider, DefinitionParts, Effect, InvocationRule, Limits, Offer, Owner,
    Pipeline, PipelineConfig, Plan, Reply, RequestState, Rules, Schema, TrustZone, WriteListener,
    Written,
};

use crate::{
    fixture::{Fake, Records, offer, offered, reader},
    memory::Memory,
};

/// How long a test waits for another thread that is stuck.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Desk {
    pub(crate) pipeline: Pipeline,
    pub(crate) store: Arc<Memory>,
    pub(crate) records: Arc<Records>,
    pub(crate) clock: Arc<Hands>,
    pub(crate) written: Arc<Ears>,
}

/// A clock that stands still until the test moves it.
#[derive(Default)]
pub(crate) struct Hands(AtomicU64);

impl Hands {
    pub(crate) fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl Clock for Hands {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

/// Keeps what it hears of writes, as `tool of provider for actor by request`.
#[derive(Default)]
pub(crate) struct Ears(Mutex<Vec<String>>);

impl Ears {
    pub(crate) fn heard(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl WriteListener for Ears {
    fn written(&self, written: &Written<'_>) {
        let Written { tool, provider, caller, approval, .. } = written;
        let by = approval.map_or("nobody", |id| id.as_str());
        let line = format!("{tool} of {provider} for {} by {by}", caller.label());
        self.0.lock().unwrap().push(line);
    }
}

impl Desk {
    /// For how many seconds a request waits.
    pub(crate) const WAIT: u64 = 3_600;

    /// A desk for the tools of the provider `acme`.
    pub(crate) fn of(tools: impl IntoIterator<Item = (DefinitionParts, Arc<Fake>)>) -> Self {
        Self::with_rules(vec![acme("1", tools)], Vec::new())
    }

    pub(crate) fn with_rules(offers: Vec<Offer>, rules: Vec<Arc<dyn InvocationRule>>) -> Self {
        Self::with_limits(offers, rules, Limits::default())
    }

    pub(crate) fn with_limits(
        offers: Vec<Offer>,
        rules: Vec<Arc<dyn InvocationRule>>,
        limits: Limits,
    ) -> Self {
        let (store, records) = (Arc::<Memory>::default(), Arc::<Records>::default());
        let (clock, written) = (Arc::<Hands>::default(), Arc::<Ears>::default());
        let approvals =
            Approvals { store: store.clone(), expire_after: Duration::from_secs(Self::WAIT) };
        let pipeline = Pipeline::new(PipelineConfig {
            approvals: Some(approvals),
            limits,
            listeners: vec![written.clone()],
            rules: Rules::new(rules).unwrap(),
            ..PipelineConfig::new(records.clone(), clock.clone())
        });
        let desk = Self { pipeline, store, records, clock, written };
        desk.replace(offers, &Access::default());
        desk
    }

    /// Puts other tools in the place of those that there are.
    pub(crate) fn replace(&self, offers: Vec<Offer>, access: &Access) {
        let (plan, collisions) = Plan::new(offer("core", []), offers).unwrap();
        assert_eq!(collisions, []);
        self.pipeline.registry().replace(plan.commit(2, access));
    }

    /// Lets administrators decide otherwise.
    pub(crate) fn switch(&self, access: &Access) {
        let registry = self.pipeline.registry().load().with_access(access);
        self.pipeline.registry().replace(registry);
    }

    pub(crate) fn call(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: &str,
    ) -> Result<Reply, CallError> {
        self.pipeline.call(&CallRequest::new(tool, arguments, caller))
    }

    /// The request under which a call waits for an approval.
    pub(crate) fn pending(&self, caller: &Caller, tool: &str, arguments: &str) -> String {
        match self.call(caller, tool, arguments) {
            Err(CallError::Pending { id, running: false, input: false, .. }) => id.to_string(),
            other => panic!("{other:?}"),
        }
    }

    /// A turn of calls with these arguments.
    pub(crate) fn turn(
        &self,
        caller: &Caller,
        calls: &[(&str, &str)],
    ) -> Vec<Result<Reply, CallError>> {
        let requests: Vec<_> = calls
            .iter()
            .map(|(tool, arguments)| CallRequest::new(tool, arguments, caller))
            .collect();
        self.pipeline.turn(&requests)
    }

    /// What a person who looks at the newest request has seen.
    pub(crate) fn seen(&self) -> (ApprovalId, String) {
        let newest = self.store.newest();
        (newest.id, newest.request.digest().to_string())
    }

    /// Whether the newest request waits.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.store.newest().state, RequestState::Waiting { .. })
    }

    /// Approves the newest request as it is.
    pub(crate) fn approve(&self, decider: &Decider) -> Result<Decided, ApprovalError> {
        let (id, seen) = self.seen();
        self.pipeline.approve(&id, &seen, decider, &as_asked)
    }

    /// Denies the newest request as it is.
    pub(crate) fn deny(&self, decider: &Decider) -> Result<(), ApprovalError> {
        let (id, seen) = self.seen();
        self.pipeline.deny(&id, &seen, decider)
    }

    /// Types this into the newest request as it is.
    pub(crate) fn submit(&self, decider: &Decider, typed: &str) -> Result<Decided, ApprovalError> {
        let (id, seen) = self.seen();
        self.pipeline.submit(&id, &seen, decider, typed, &as_asked)
    }

    /// The records of calls, as `tool outcome code reason request`.
    pub(crate) fn recorded(&self) -> Vec<String> {
        let dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
        let calls = self.records.calls();
        let line = calls.iter().map(|record| {
            let (code, reason) = (dash(record.code), dash(record.reason));
            let approval = dash(record.approval.as_deref());
            format!("{} {} {code} {reason} {approval}", record.tool, record.outcome)
        });
        line.collect()
    }
}

/// Whoever asked, without an agent.
pub(crate) fn as_asked(owner: &Owner) -> Option<Caller> {
    owner.agent.is_none().then(|| Caller::new(owner.actor.clone()))
}

/// The tools of the provider `acme`, whose code is this.
pub(crate) fn acme(
    content: &str,
    tools: impl IntoIterator<Item = (DefinitionParts, Arc<Fake>)>,
) -> Offer {
    let tools = tools.into_iter().map(|(parts, backend)| offered(parts, backend)).collect();
    Offer { content: content.to_owned(), tools, ..offer("acme", []) }
}

/// A tool that writes, and doing it twice does it twice.
pub(crate) fn writer(name: &str) -> DefinitionParts {
    let mut parts = reader(name);
    parts.declarations.effect = Effect::NonIdempotentWrite;
    parts
}

/// A tool that reads, and that a person must approve.
pub(crate) fn guarded(name: &str) -> DefinitionParts {
    let mut parts = reader(name);
    parts.declarations.requires_approval = true;
    parts
}

/// A tool that reads, and for which a person types in a `code`.
pub(crate) fn asking(name: &str) -> DefinitionParts {
    let schema = |json: &str| Schema::parse(json).unwrap();
    let mut parts = reader(name);
    parts.schema = schema(
        r#"{"type":"object","properties":{"code":{"type":"string"},"note":{"type":"string"}},"required":["code"]}"#,
    );
    parts.declarations.input = Some(schema(
        r#"{"type":"object","properties":{"code":{"type":"string","minLength":3}},"required":["code"]}"#,
    ));
    parts
}

/// Somebody who decides about everything.
pub(crate) fn admin() -> Decider {
    Decider::new(Actor::User { name: "ada".parse().unwrap(), admin: true })
}

/// Who decides about what they have asked for.
pub(crate) fn owner() -> Decider {
    Decider::new(Actor::User { name: "bo".parse().unwrap(), admin: false })
}

/// A service account with these scopes.
pub(crate) fn service(scopes: &[&str]) -> Decider {
    let scopes = scopes.iter().map(ToString::to_string).collect();
    Decider::new(Actor::ServiceAccount { name: "robot".parse().unwrap(), scopes })
}

/// An agent whose results may go anywhere here, and whose writes somebody else must approve where it says so.
pub(crate) fn helper(four_eyes: bool) -> Agent {
    let zone = TrustZone::Local;
    Agent { four_eyes, zone, ..Agent::new("helper".parse().unwrap()) }
}
