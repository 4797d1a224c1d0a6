"""Checks what callers pass against the type annotations of arguments and fields.

A wrong argument raises `ArgumentError` with its name, before anything else happens. `checked` is
for functions and methods, `checked_fields` for the attrs records that callers make. The records
that only the library makes have `named_fields`: their types are not checked, which would cost
time, but an error of a converter or a validator names the field.

cattrs converts values instead of checking them, and attrs has validators for fields only, which
repeat the annotations. So the rules are our own.
"""

from cooperbench_eval.support.arguments.fields import checked_fields, follows, named_fields
from cooperbench_eval.support.arguments.functions import checked
from cooperbench_eval.support.arguments.rules import Rule, able_to, rule_of

__all__ = ["Rule", "able_to", "checked", "checked_fields", "follows", "named_fields", "rule_of"]
