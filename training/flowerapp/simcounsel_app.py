"""The app that `flwr run training/flowerapp` starts: a counselor learned across clinics (see
`training.learning.network`).

Flower may start a process for every message, so what is slow to load is loaded only when there is
something to learn.
"""

from flwr.app import Context

from training.federation.flower.client import site_app
from training.federation.flower.server import ServerSide, server_app
from training.federation.site import SiteSide


def bring_site(context: Context) -> SiteSide:
    """The site's side, with its learner."""
    from training.learning.network import site

    return site(context)


def bring_server(context: Context) -> ServerSide:
    """The server's side."""
    from training.learning.network import server

    return server(context)


site = site_app(bring_site, lambda context: str(context.node_config.get("site", "")))
server = server_app(bring_server)
