//! A tool as it was when somebody last looked at it: an update that lets it do more is held back until they look again.

use std::fmt;

use crate::{
    declaration::{Declarations, Origin},
    definition::ToolDefinition,
    excerpt::excerpt,
    name::{ProviderId, ToolName},
    schema::Schema,
};

/// What of a tool was reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Who contributed it, where that was kept.
    pub provider: Option<ProviderId>,
    /// Its name at that time.
    pub name: ToolName,
    /// What the model read of it.
    pub description: String,
    /// The schema of its arguments.
    pub schema: Schema,
    /// What its code declared.
    pub declarations: Declarations,
}

/// One difference between a tool and its [`Pin`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What differs, such as `effect`.
    pub field: &'static str,
    /// What it was.
    pub before: String,
    /// What it is.
    pub after: String,
    /// Whether the tool may do more by it, so that somebody must look at it first.
    pub widens: bool,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (excerpt(&self.before, 200), excerpt(&self.after, 200));
        write!(f, "{}: {before} is now {after}", self.field)
    }
}

impl Pin {
    /// The tool as it is now.
    pub fn of(tool: &ToolDefinition) -> Self {
        Self {
            provider: None,
            name: tool.name().clone(),
            description: tool.description().to_owned(),
            schema: tool.schema().clone(),
            declarations: tool.declarations().clone(),
        }
    }

    /// The pin with whoever contributes the tool.
    #[must_use]
    pub fn from_provider(self, provider: &ProviderId) -> Self {
        Self { provider: Some(provider.clone()), ..self }
    }

    /// Whether the tool of this provider may do more than what was pinned.
    pub fn is_widened_by(&self, tool: &ToolDefinition, provider: &ProviderId) -> bool {
        self.all_changes(tool, provider).iter().any(|change| change.widens)
    }

    /// Everything in which the tool of this provider differs from what was pinned. Another provider's tool is another one, however alike
    /// they are.
    pub fn all_changes(&self, tool: &ToolDefinition, provider: &ProviderId) -> Vec<Change> {
        let mut changes = Changes::default();
        if let Some(pinned) = &self.provider {
            changes.add("provider", pinned, provider, true);
        }
        changes.0.extend(self.changes(tool));
        changes.0
    }

    /// Everything in which the tool differs from what was pinned.
    ///
    /// It is wider with a heavier effect, another class of data, another group, a wider egress, fewer conditions or more repetitions;
    /// with any other input, and any other schema but for the words in it, since no rule tells the wider of two; and with any other
    /// words of a tool that writes, for they are what makes a model call it.
    pub fn changes(&self, tool: &ToolDefinition) -> Vec<Change> {
        let (old, new) = (&self.declarations, tool.declarations());
        let writes = old.effect.is_write() || new.effect.is_write();
        let mut changes = Changes::default();
        changes.add("name", &self.name, tool.name(), false);
        changes.add("description", &self.description, &tool.description(), writes);
        // Of a tool that reads, words about arguments are no more than its description.
        let wider =
            writes || self.schema.without_annotations() != tool.schema().without_annotations();
        changes.add("schema", &self.schema.as_str(), &tool.schema().as_str(), wider);
        changes.add("effect", &old.effect, &new.effect, new.effect > old.effect);
        changes.add(
            "data class",
            &old.data_class,
            &new.data_class,
            // A higher class is more sensitive data, a lower one goes to more models.
            true,
        );
        changes.add("group", &named(&old.group), &named(&new.group), true);
        changes.add("egress", &old.egress, &new.egress, new.egress > old.egress);
        changes.add("kind", &old.kind, &new.kind, false);
        // Without a budget of its own, a tool may be repeated as often as its kind allows, which is never less.
        let repeats = |declared: &Declarations| declared.loop_budget.map_or(u16::MAX, u16::from);
        let more = repeats(new) > repeats(old);
        changes.add("loop budget", &budget(old), &budget(new), more);
        changes.add("requires admin", &old.requires_admin, &new.requires_admin, old.requires_admin);
        changes.add(
            "enabled by default",
            &old.enabled_by_default,
            &new.enabled_by_default,
            new.enabled_by_default,
        );
        let approval = |declared: &Declarations| declared.needs_approval(Origin::Local);
        changes.add("needs approval", &approval(old), &approval(new), approval(old));
        changes.add("input", &input(old), &input(new), true);
        changes.0
    }
}

#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn add(
        &mut self,
        field: &'static str,
        before: &(impl fmt::Display + PartialEq),
        after: &(impl fmt::Display + PartialEq),
        widens: bool,
    ) {
        let (before, after) = (before.to_string(), after.to_string());
        if before != after {
            self.0.push(Change { field, before, after, widens });
        }
    }
}

fn named(name: &Option<impl fmt::Display>) -> String {
    name.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
}

fn budget(declarations: &Declarations) -> String {
    named(&declarations.loop_budget)
}

fn input(declarations: &Declarations) -> &str {
    declarations.input.as_ref().map_or("none", Schema::as_str)
}
