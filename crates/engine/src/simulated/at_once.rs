//! Several composed requests at once.

use crate::{AtOnce, ComposeError, Composed, Observer, Requester, run_within};
use loadline_reactor::Host;
use loadline_record::Outcome;

/// Sends requests at once, within these bounds, each with its own observer. Returns the outcome of
/// each, in their order.
pub(crate) async fn request_all<'a, H: Host, O: Observer>(
    requester: &'a Requester<H>,
    requests: Vec<(Composed<'a>, &'a mut O)>,
    bounds: AtOnce,
) -> Vec<Result<Outcome, ComposeError>> {
    let requests = requests.into_iter().map(|(request, observer)| {
        let host = request.url.clone();
        let sending = async move { requester.request(request, observer).await };
        (host, sending)
    });
    run_within(requests, bounds).await
}
