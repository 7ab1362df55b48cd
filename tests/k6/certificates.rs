//! Certificates of the client, which `tlsAuth` gives: they go to wherever the users are. Those of
//! agents are in `agents/scripts.rs`.

use super::Scripts;
use crate::nginx::certificate;
use crate::rig::serve_with;
use loadline_testbed::Server;
use std::fs;

/// A script whose users show a certificate, unless `BARE` is set.
const SCRIPT: &str = "import http from 'k6/http';
    const own = __ENV.BARE ? [] : [{ cert: open('./cert.pem'), key: open('./key.pem') }];
    export const options = { insecureSkipTLSVerify: true, tlsAuth: own };
    export default function () { http.get(__ENV.URL); }";

/// The script `tls.js` beside the certificate that it shows, and a server that requires that.
pub(crate) fn requiring_server() -> (Scripts, Server) {
    let scripts = Scripts::new(&[("tls.js", SCRIPT)]);
    certificate(scripts.path());
    let pem = fs::read_to_string(scripts.path().join("cert.pem")).unwrap();
    let server = serve_with(|config| {
        config.tls = true;
        config.client_ca_pem = Some(pem);
    });
    (scripts, server)
}

#[test]
fn the_certificates_of_a_script_are_used_in_all_processes() {
    for processes in [&[][..], &["--processes", "3"]] {
        let (scripts, server) = requiring_server();
        let url = format!("URL=https://{}/", server.addr());
        let run = |more: &[&str]| {
            let words = ["run", "-u", "6", "-i", "60", "-e", &url];
            let said = scripts.run(&[&words[..], processes, more, &["tls.js"]].concat());
            assert_eq!(said.code, Some(0), "{processes:?}: {}", said.stderr);
        };
        run(&["-e", "BARE=1"]);
        let refused = server.counts();
        assert_eq!(refused.answers, 0, "{processes:?}");
        assert!(refused.tls_failed >= 6, "{processes:?}: {refused:?}");
        run(&[]);
        assert_eq!(server.stop().answers, 60, "{processes:?}");
    }
}
