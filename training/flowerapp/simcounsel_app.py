"""The app that `flwr run training/flowerapp` starts: a counselor learned across clinics (see `training.learning.network`)."""

from training.federation.flower.client import site_app
from training.federation.flower.server import server_app
from training.learning.network import server as bring_server
from training.learning.network import site as bring_site

site = site_app(bring_site)
server = server_app(bring_server)
