import pytest

from archive.errors import DataErrors
from scoring.answers import edition_of
from scoring.jsonlines import Line

LINE = Line(4, {})


def test_the_newest_edition_is_the_one_with_the_highest_number_wherever_it_stands(editions):
    named = {version: editions["1.5"].model_copy(update={"version": version}) for version in ("1.10", "0.9", "1.9")}
    assert edition_of(LINE, None, named).version == "1.10"


def test_a_named_edition_is_taken_by_its_name(editions):
    assert edition_of(LINE, "0.4", editions) is editions["0.4"]


def test_an_unknown_edition_is_named_by_line_and_field(editions):
    with pytest.raises(DataErrors, match=r"standard input:4: edition: no such edition; one of 0\.2, "):
        edition_of(LINE, "0.1", editions)
