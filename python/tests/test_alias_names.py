# SPDX-License-Identifier: BSD-3-Clause
"""Old names: they are what they are called now, and warn."""

import pytest

import shoal
from shoal import errors
from shoal._alias_names import old_errors


@pytest.mark.parametrize(("old", "new"), old_errors.items())
def test_old_names_of_errors(old, new):
    for module in (shoal, errors):
        with pytest.warns(DeprecationWarning, match=f"now called shoal.{new}"):
            assert getattr(module, old) is getattr(module, new)


def test_other_names_are_none():
    for module in (shoal, errors):
        with pytest.raises(AttributeError, match="NoSuchName"):
            module.NoSuchName  # noqa: B018


def test_old_names_of_settings(tmp_path):
    with shoal.create(tmp_path / "a.nc", exchange="off", quiet=True) as file:
        assert "exchange (from argument) is now called rearrange" in str(file.report)
