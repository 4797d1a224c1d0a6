"""Tests of reading a file in pieces."""

from textwrap import indent

from cooperbench_eval.languages.model import Source
from cooperbench_eval.languages.readers.grammars import Grammar
from cooperbench_eval.languages.scopes.reading import read_source

_CLASS = '''\
class Shop(Base):
    tax = 3

    @property
    def price(self, *, rate=tax, other: Kind = None) -> "Price":
        """Return the price."""
        global count
        count = 1
        def rounded(value=rate):
            return round(value, self.digits)
        import decimal
        return rounded(decimal.Decimal(total))

    @price.setter
    @price.setter
    def price(self, value):
        if value:
            late = value
        print(late, [each for each in Shop.all if (last := each)])
        raise Error(last)
        return 1

    @classmethod
    def make(cls, *names, **others):
        cls.made(names)
        def twice(): ...
        def twice(): ...
        return lambda name: cls(name, others, tax)
'''


def test_a_method_is_read_as_if_the_class_were_one_piece() -> None:
    """Only the methods of a class at the top level are pieces; in an `if`, the class is one."""
    apart, whole = _read("\n" + _CLASS), _read("if True:\n" + indent(_CLASS, "    "))

    assert len(apart.pieces) == 4
    assert len(whole.pieces) == 1
    assert _contents(apart) == _contents(whole)


def test_versions_share_the_methods_that_are_equal() -> None:
    """A method that another version has too is not read again, wherever it is."""
    before = _read(_CLASS).pieces
    after = _read("import x\n\n" + _CLASS.replace("print(late", "show(late")).pieces

    assert [names in dict(map(reversed, before)) for _, names in after] == [
        *(False, False),
        *(True, False, True),
    ]


def _read(text: str) -> Source:
    return read_source(Grammar.PYTHON, text.encode())


def _contents(source: Source) -> list[object]:
    return [
        source.definitions,
        sorted(each._replace(line=0, is_global=False) for each in source.imports),
        sorted(repr(each._replace(via=None)) for each in source.uses),
        sorted(each.qualified for each in source.clashes),
        source.slips,
        *(source.free, source.local, source.bound, source.members, source.sets, source.early),
        *(source.reads, source.excess, source.unbound),
    ]
