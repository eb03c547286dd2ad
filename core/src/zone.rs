//! Where a model runs, and which classes of data may go there.

use crate::{declaration::DataClass, vocabulary::vocabulary};

vocabulary! {
    /// Where the provider of an agent's model runs, ordered from the most trusted to the least.
    TrustZone, "trust zone" {
        /// On the host's own machines.
        Local = "local",
        /// At somebody who runs it for the operator alone.
        PrivateHosted = "private_hosted",
        /// At a public provider under European law.
        ExternalEu = "external_eu",
        /// Anywhere.
        ExternalGlobal = "external_global",
    }
}

impl TrustZone {
    /// The zone that a setting names. One that is missing, empty or unknown is the least trusted.
    pub fn of_setting(setting: Option<&str>) -> Self {
        setting.and_then(|word| word.trim().parse().ok()).unwrap_or(Self::ExternalGlobal)
    }

    /// The zone of a model with fallbacks: the least trusted of its own and theirs. A fallback that can't be resolved is the least
    /// trusted there is.
    ///
    /// ```
    /// use toolbay_core::{DataClass, TrustZone};
    ///
    /// let zone = TrustZone::with_fallbacks(TrustZone::Local, [Some(TrustZone::ExternalGlobal)]);
    /// assert_eq!(zone.ceiling(), DataClass::EditorContent);
    /// ```
    pub fn with_fallbacks(own: Self, fallbacks: impl IntoIterator<Item = Option<Self>>) -> Self {
        let fallbacks = fallbacks.into_iter().map(|zone| zone.unwrap_or(Self::ExternalGlobal));
        fallbacks.fold(own, Self::max)
    }

    /// The highest class of data that may go there.
    pub const fn ceiling(self) -> DataClass {
        match self {
            Self::Local => DataClass::SecretAdjacent,
            Self::PrivateHosted => DataClass::SystemDiagnostics,
            Self::ExternalEu => DataClass::InternalConfiguration,
            Self::ExternalGlobal => DataClass::EditorContent,
        }
    }

    /// Whether data of this class may go there.
    pub fn permits(self, class: DataClass) -> bool {
        class <= self.ceiling()
    }
}

vocabulary! {
    /// Whether a breach of an agent's trust zone stops a call, or is only recorded.
    Enforcement, "enforcement" {
        /// It stops the call.
        Enforce = "enforce",
        /// It is recorded. A remote tool is stopped all the same, and so is everything that another gate refuses.
        Observe = "observe",
    }
}

impl Enforcement {
    /// What a setting means: only the word `observe`, in any case and with any space around it, observes.
    pub fn of_setting(setting: Option<&str>) -> Self {
        match setting {
            Some(word) if word.trim().eq_ignore_ascii_case("observe") => Self::Observe,
            _ => Self::Enforce,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_observe_observes() {
        // Edge case 25.
        let cases = [
            (Some(" Observe "), Enforcement::Observe),
            (Some("observe"), Enforcement::Observe),
            (Some("observ"), Enforcement::Enforce),
            (Some("observed"), Enforcement::Enforce),
            (Some(""), Enforcement::Enforce),
            (None, Enforcement::Enforce),
        ];
        for (setting, expected) in cases {
            assert_eq!(Enforcement::of_setting(setting), expected, "{setting:?}");
        }
    }

    #[test]
    fn the_least_trusted_zone_decides() {
        use TrustZone::{ExternalEu, ExternalGlobal, Local, PrivateHosted};
        // Edge case 27, and what can't be resolved.
        let cases: [(TrustZone, &[Option<TrustZone>], TrustZone); 5] = [
            (Local, &[], Local),
            (Local, &[Some(ExternalGlobal)], ExternalGlobal),
            (ExternalEu, &[Some(Local), Some(PrivateHosted)], ExternalEu),
            (Local, &[Some(Local), None], ExternalGlobal),
            (PrivateHosted, &[Some(Local)], PrivateHosted),
        ];
        for (own, fallbacks, expected) in cases {
            assert_eq!(TrustZone::with_fallbacks(own, fallbacks.iter().copied()), expected);
        }
    }

    #[test]
    fn each_zone_has_its_ceiling_and_an_unknown_one_the_lowest() {
        let cases = [
            (Some("local"), DataClass::SecretAdjacent),
            (Some("private_hosted"), DataClass::SystemDiagnostics),
            (Some("external_eu"), DataClass::InternalConfiguration),
            (Some("external_global"), DataClass::EditorContent),
            (Some("locl"), DataClass::EditorContent),
            (Some(""), DataClass::EditorContent),
            (None, DataClass::EditorContent),
        ];
        for (setting, ceiling) in cases {
            let zone = TrustZone::of_setting(setting);
            assert_eq!(zone.ceiling(), ceiling, "{setting:?}");
            assert!(zone.permits(ceiling) && zone.permits(DataClass::PublicContent));
            let above = DataClass::SecretAdjacent;
            assert_eq!(zone.permits(above), ceiling == above);
        }
    }
}
