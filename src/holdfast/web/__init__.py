"""The page: stability in the browser, on this machine, for its owner only.

Everything that the page offers is a *route*, declared once (:mod:`holdfast.web.routing`): an address, a function with
typed arguments, and the typed record that it returns, which a template shows or which is sent as JSON under
``/api/v1``::

    routes = Routes()

    @routes.page("/studies/{study}", "study.html.j2")
    def show_study(site: Site, study: str, query: StudyQuery) -> StudyPage: ...

    @routes.action("POST", "/studies")
    def start_study(site: Site, body: StudyRequest) -> StartedStudy: ...

A request meets, in this order: the guard (:mod:`.guard`: host, token, origin, size, headers), the route, the page's
function. Functions that are not coroutines run in a thread. What touches a file that somebody uploaded runs as a *task*
(:mod:`.tasks`) in a worker process with limits (:mod:`.worker`); its answer comes back as JSON.

A study runs in a process of its own, as the command ``holdfast study`` with its store in the folder (:mod:`.launcher`).
Its store is the only truth about it: a page that was closed or a server that was killed loses nothing, and studies that
were started on the command line are listed and watched just as well.

Where to look:

=================================  =====================================================================================
to change …                        open
=================================  =====================================================================================
a page or an action                ``pages/``, one module each with its routes and records; ``templates/``, ``static/``
how files of selections are read,  ``selections/``: ``reading``, ``layouts``, ``cache``, ``measuring`` and ``comparing``
measured and compared              (tasks), ``questions`` with a page for each answer, ``records``
from a table to a running study    ``planning/``: ``tables``, ``table_tasks`` and ``table_cache``, ``offers`` (what the
                                   registries hold), ``plans`` (to a command line), ``starting`` (cost, start),
                                   ``growing``
how results of a study are shown   ``findings/``: ``options`` and ``rule_parameters``, ``summaries``, ``candidates``,
                                   ``features``, ``feature_pairs``, ``profiles``
what the explorer draws            ``simulating``
options to choose from, addresses  ``choices``, ``parameters`` (their types), ``addresses``
what studies are doing and found   ``launcher`` (queue, processes), ``events``, ``overviews``, ``results``
files on disk                      ``folder`` (names, records, room), ``uploads``
what reads uploads                 ``tasks`` (by name), ``worker`` (limits), ``preloaded`` (before workers fork)
from a request to a route          ``server``, ``connections``, ``guard``, ``app``, ``routing``, ``site``
from a record to a page            ``rendering``
=================================  =====================================================================================
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.web.app import create_app
    from holdfast.web.server import serve

__all__ = ["create_app", "serve"]
_MODULES = {"create_app": "app", "serve": "server"}


def __getattr__(name: str) -> Any:
    """Import a name when it is used, so that the server can say where it listens before pandas is imported."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
