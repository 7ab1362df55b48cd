//! What a command line means as a plan.

use super::Arguments;
use loadline_plan::{Arrivals, Body, Connection, Load, Order, Plan, Rate, Request, Shape, Tls};
use std::time::Duration;

impl Arguments {
    /// What is run: a closed load for wrk, one of constant rate for wrk2. Its request says where
    /// connections go; what is sent, [`repetition`](Arguments::repetition) or a script says.
    ///
    /// Connections are dealt to the threads without a remainder being lost, and certificates are
    /// not looked at.
    ///
    /// # Errors
    /// The message for a scheme whose port is not known.
    pub fn plan(&self) -> Result<Plan, String> {
        if !self.target.known {
            let place = self.place();
            return Err(format!(
                "unable to resolve {place} Servname not supported for ai_socktype\n"
            ));
        }
        Ok(Plan {
            requests: vec![self.request()],
            script: None,
            order: Order::Sequential,
            load: Load {
                connections: self.connections,
                max_connections: self.connections,
                shape: self.shape(),
            },
            threads: self.threads,
            duration: Some(Duration::from_secs(self.duration_s)),
            request_limit: None,
            warmup: Duration::ZERO,
            settle: false,
            until: None,
            seed: 0,
            connection: self.connection(),
            checks: Vec::new(),
            abort_on: Vec::new(),
        })
    }

    fn request(&self) -> Request {
        Request {
            method: "GET".to_owned(),
            url: self.target.url.clone(),
            headers: Vec::new(),
            body: Body::None,
            weight: 1,
        }
    }

    fn shape(&self) -> Shape {
        match self.rate {
            None => Shape::Closed,
            Some(rate) => Shape::Rate {
                rate: Rate::each_second(rate),
                arrivals: Arrivals::Constant,
            },
        }
    }

    fn connection(&self) -> Connection {
        Connection {
            timeout: self.timeout,
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
        assert_eq!((plan.load.connections, plan.threads), (5, 2));
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
    fn a_service_without_a_known_port_can_t_be_reached() {
        let problem = plan(Tool::Wrk, "foo://h/").expect_err("no port");
        assert_eq!(
            problem,
            "unable to resolve h:foo Servname not supported for ai_socktype\n"
        );
    }
}
