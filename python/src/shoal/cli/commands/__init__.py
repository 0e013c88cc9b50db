# SPDX-License-Identifier: BSD-3-Clause
"""One file a command, each with register(app)."""
