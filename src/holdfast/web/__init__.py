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
a page or an action                ``pages/``, a module per subject with its routes, its records and what is computed
                                   for them; ``templates/``, ``static/``
what a form asks for               ``forms``: what the registries hold, and parameters with what can be typed
how files of selections are read,  ``selections`` (reading), ``measuring`` (records and tasks)
measured and compared
from a table to a running study    ``tables`` (reading), ``plans`` (to a command, its cost, its start, its growth)
what studies found                 ``results``: read from stores and remembered; candidate, rule, measure, score, level
what studies are doing             ``launcher`` (queue, processes, watching)
files on disk                      ``folder`` (names, records, uploads, disk space)
what reads uploads                 ``tasks`` (by name), ``worker`` (limits), ``preloaded`` (before workers fork)
from a request to a route          ``server``, ``connections``, ``guard``, ``app``, ``routing``, ``site``
from a record to a page            ``rendering``
=================================  =====================================================================================
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
