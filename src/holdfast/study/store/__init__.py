"""The SQLite file of a study: the only place with SQL, and the only user of sqlite3.

From the outside in: ``opening`` lets one process write and any number read, and reads what a study knows, whole or in
part, and verifies it, ``store`` writes it, ``checking`` finds damaged rows and drops them
so that they are recomputed, ``schema`` declares the tables and makes their rows.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
