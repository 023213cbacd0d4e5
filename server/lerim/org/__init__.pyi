from .schema import SetUp as SetUp
from .schema import reader_role as reader_role
from .schema import set_up_database as set_up_database
from .schema import worker_role as worker_role
