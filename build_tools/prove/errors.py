"""Errors of proving: codes ``MLA57x``."""

from __future__ import annotations

from build_tools.errors import BuildError


class ProveError(BuildError):
    """Base of what stops a proof; a kernel that is wrong is a result, not an error."""

    code = "MLA570"
    exit_code = 17


class LibraryUnusable(ProveError):
    """The emulator or the planner cannot be loaded or is of another version."""

    code = "MLA571"


class PlanImpossible(ProveError):
    """The planner or the emulator refused what a case asked of it."""

    code = "MLA572"


class EvidenceInvalid(ProveError):
    """An evidence file is damaged, of another schema, or belongs to other bytes."""

    code = "MLA573"


class ClassesInvalid(ProveError):
    """The declaration of equivalence classes states something impossible."""

    code = "MLA574"


class ExecutorUnusable(ProveError):
    """The executor named on the command line cannot be made."""

    code = "MLA575"


class RuleOutsideEnvelope(ProveError):
    """A claim relies on classes of problems that the evidence of its kernel does not show to be right."""

    code = "MLA576"
