//! The one door into the library for what is no part of it: tests, benches and fuzz targets. Nothing else may use it, and
//! what is not named here is reached by nobody, so that rustc finds what is dead.

pub mod counter {
    //! The metrics page.
    pub mod exposition {
        //! Its parser.
        pub use crate::page::exposition::{Selector, Sum, fuzz};
    }
    pub mod lines {
        //! Lines that the game writes.
        pub use crate::counter::fuzz::fuzz;
    }
    pub mod json {
        //! A page in JSON.
        pub use crate::page::json::fuzz;
    }
}
pub mod rcon {
    //! The other end of a remote console.
    pub use crate::rcon::fuzz;
}
pub mod insight {
    //! Its hostile clients.
    pub mod status {
        //! The endpoint's requests.
        pub use crate::insight::status::fuzz;
    }
}
#[cfg(feature = "local-sdk")]
pub mod local_sdk {
    //! Manifests and requests.
    pub use crate::local_sdk::fuzz;
}
pub mod manifest {
    //! The reader, and the table of what `check -f` finds.
    pub use crate::manifest::check::catalogue::markdown;
    pub use crate::manifest::yaml;
}
pub mod query {
    //! A server is asked as the liveness probe of these variables would ask it.
    use std::time::Duration;

    use crate::net::deadline::Deadline;
    use crate::net::resolve::Resolver;
    pub use crate::query::protocol::markdown;
    pub use crate::query::{Reading, fuzz};
    use crate::settings::{LivenessSettings, Probe, Variable};

    /// What the server says.
    ///
    /// # Panics
    ///
    /// The first liveness probe is no query, or there is no answer in time.
    #[must_use]
    pub fn reading(variables: impl IntoIterator<Item = Variable>, timeout: Duration) -> Reading {
        let (settings, _) = LivenessSettings::read(variables).expect("the settings are good");
        let Some(Probe::Query(target)) = settings.probes.first() else { panic!("no query: {:?}", settings.probes) };
        let deadline = Deadline::after(timeout);
        let addresses = Resolver::new().addresses(&target.host, target.port, deadline).expect("it is loopback");
        let wanted = crate::query::Wanted { names: true, bots: true };
        crate::query::ask(target, &addresses, wanted, deadline).expect("it has answered before")
    }
}
pub mod machine {
    //! The catalogue of messages, and the walk.
    pub use crate::machine::catalogue;
    #[cfg(fuzzing)]
    pub use crate::machine::tests;
}
pub mod sdk {
    //! The messages on the wire.
    pub use crate::sdk::proto;
}
pub mod settings {
    //! Tables for the documentation, and what the fuzzer does.
    pub use crate::settings::engine::help::{common_table, markdown};
    pub use crate::settings::engine::row::is_setting;
    pub use crate::settings::fuzz::fuzz;
}
pub mod help {
    //! What is printed, and the documentation of the commands.
    pub use crate::commands::{exit_code_table, help_all as all, help_short as short, markdown, version};
}
