from .registration import LANGUAGE_FEATURES as LANGUAGE_FEATURES
from .registration import can_register_later as can_register_later
from .registration import make_registrations as make_registrations
