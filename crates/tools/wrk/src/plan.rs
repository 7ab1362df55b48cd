//! The plan of a command line.

use super::Arguments;
use loadline_plan::{Arrivals, Body, Connection, Load, Plan, Rate, Request, Shape, Tls};
use std::time::Duration;

impl Arguments {
    /// Returns the plan: a closed load for wrk, a constant rate for wrk2. Its request gives
    /// connections their destination; the messages come from [`repetition`](Arguments::repetition)
    /// or a script.
    ///
    /// All connections are distributed over the threads, including the remainder, and certificates
    /// are not verified.
    ///
    /// # Errors
    /// The message for a scheme whose port is not known, or for arrivals that are not supported.
    pub fn plan(&self) -> Result<Plan, String> {
        if !self.target.known {
            let place = self.place();
            return Err(format!(
                "unable to resolve {place} Servname not supported for ai_socktype\n"
            ));
        }
        Ok(Plan {
            requests: vec![self.request()],
            load: Load {
                users: self.connections,
                max_users: self.connections,
                shape: self.shape()?,
            },
            threads: self.threads,
            duration: Some(Duration::from_secs(self.duration_s)),
            seed: 0,
            connection: self.connection(),
            ..Plan::default()
        })
    }

    fn request(&self) -> Request {
        Request {
            method: "GET".to_owned(),
            url: self.target.url.clone(),
            headers: Vec::new(),
            body: Body::None,
            weight: 1,
            name: None,
        }
    }

    fn shape(&self) -> Result<Shape, String> {
        Ok(match self.rate {
            None => Shape::Closed,
            Some(rate) => Shape::Rate {
                rate: Rate::each_second(rate),
                arrivals: self.arrivals()?,
            },
        })
    }

    /// Returns the arrivals of `-D` of a fork of wrk2.
    fn arrivals(&self) -> Result<Arrivals, String> {
        match self.distribution.as_deref() {
            None | Some("fixed") => Ok(Arrivals::Constant),
            Some("exp") => Ok(Arrivals::Poisson),
            Some(other) => Err(format!(
                "-D {other} is not supported by Loadline: write -D fixed for requests at equal \
                 intervals, or -D exp for random ones (a Poisson process)\n"
            )),
        }
    }

    fn connection(&self) -> Connection {
        Connection {
            timeout: self.timeout,
            awaits_late: true,
            // wrk records the time of a batch when its last response is read.
            gathers_batches: self.rate.is_none(),
            tls: Tls {
                insecure: true,
                ..Tls::default()
            },
            ..Connection::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tool;
    use super::*;

    fn plan(tool: Tool, line: &str) -> Result<Plan, String> {
        let words = line.split(',').map(Into::into);
        Arguments::parse(tool, words).expect("a good line").plan()
    }

    #[test]
    fn wrk_is_a_closed_load_on_every_connection() {
        let plan = plan(Tool::Wrk, "-c5,-t2,-d3,http://h:81/p").expect("a plan");
        assert_eq!(plan.load.shape, Shape::Closed);
        assert_eq!((plan.load.users, plan.threads), (5, 2));
        assert_eq!(plan.duration, Some(Duration::from_secs(3)));
        assert_eq!(plan.requests[0].url.as_str(), "http://h:81/p");
        assert!(plan.connection.tls.insecure && plan.connection.keepalive);
        assert_eq!(plan.validate(), Ok(()));
    }

    #[test]
    fn wrk2_is_an_open_load() {
        let plan = plan(Tool::Wrk2, "-R,256k,-T3,http://h/").expect("a plan");
        let rate = Rate::each_second(256_000);
        let arrivals = Arrivals::Constant;
        assert_eq!(plan.load.shape, Shape::Rate { rate, arrivals });
        assert_eq!(plan.connection.timeout, Duration::from_secs(3));
        assert_eq!(plan.validate(), Ok(()));
    }

    #[test]
    fn a_fork_says_how_arrivals_are_spread() {
        let spread = |name: &str| {
            let plan = plan(Tool::Wrk2, &format!("-D,{name},-R,5,http://h/"))?;
            let Shape::Rate { arrivals, .. } = plan.load.shape else {
                panic!("{:?}", plan.load.shape)
            };
            Ok(arrivals)
        };
        assert_eq!(spread("fixed"), Ok(Arrivals::Constant));
        assert_eq!(spread("exp"), Ok(Arrivals::Poisson));
        for name in ["norm", "zipf", "nonsense"] {
            let told: Result<Arrivals, String> = spread(name);
            assert!(
                told.unwrap_err()
                    .starts_with(&format!("-D {name} is not supported"))
            );
        }
    }

    #[test]
    fn a_service_without_a_known_port_can_t_be_reached() {
        let problem = plan(Tool::Wrk, "foo://h/").expect_err("no port");
        assert_eq!(
            problem,
            "unable to resolve h:foo Servname not supported for ai_socktype\n"
        );
    }
}
