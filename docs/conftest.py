"""Every block of the pages here, of the README and of the changelog is a test."""

from blocks import SYBIL, is_page
from needs import report_missing
from sybil.integration.pytest import SybilFile, SybilItem


class Block(SybilItem):
    """An example on a page."""

    def _traceback_filter(self, excinfo):
        # Sybil looks for itself in the traceback of an exception's cause as well.
        try:
            return super()._traceback_filter(excinfo)
        except IndexError:
            return excinfo.traceback


class Page(SybilFile):
    """A page: its examples in their order."""

    def collect(self):
        """Yield every example."""
        (sybil,) = self.sybils
        document = sybil.parse(self.path)
        self.documents.append(document)
        for example in document:
            yield Block.from_parent(self, sybil=sybil, example=example)


class Pages:
    """Collects pages, those too that lie beside this folder."""

    @staticmethod
    def pytest_collect_file(file_path, parent):
        """Take a file that is a page."""
        if file_path.suffix == ".md" and SYBIL.should_parse(file_path) and is_page(file_path):
            return Page.from_parent(parent, path=file_path, sybils=[SYBIL])
        return None


def pytest_configure(config):
    """Register what collects; as a hook of this file it would not be asked about the README."""
    config.pluginmanager.register(Pages(), "documentation-pages")
    report_missing(config)
