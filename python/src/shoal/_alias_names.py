# SPDX-License-Identifier: BSD-3-Clause
"""Old names that work in this version for the last time, and what they are called now."""

from __future__ import annotations

old_errors = {
    "AccessError": "PermissionDeniedError",
    "FileMissingError": "NoSuchFileError",
    "StoreError": "InputOutputError",
    "WaitError": "WaitTimeoutError",
}
