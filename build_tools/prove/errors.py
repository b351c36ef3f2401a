"""Errors of proving: codes ``MLA53x``."""

from __future__ import annotations

from build_tools.errors import BuildError


class ProveError(BuildError):
    """Base of what stops a proof; a kernel that is wrong is a result, not an error."""

    code = "MLA530"
    exit_code = 17


class LibraryUnusable(ProveError):
    """The emulator or the planner cannot be loaded or is of another version."""

    code = "MLA531"


class PlanImpossible(ProveError):
    """The planner or the emulator refused what a case asked of it."""

    code = "MLA532"


class EvidenceInvalid(ProveError):
    """An evidence file is damaged, of another schema, or belongs to other bytes."""

    code = "MLA533"


class ClassesInvalid(ProveError):
    """The declaration of equivalence classes states something impossible."""

    code = "MLA534"


class ExecutorUnusable(ProveError):
    """The executor named on the command line cannot be made, or a process of it ended."""

    code = "MLA535"


class RuleOutsideEnvelope(ProveError):
    """A claim relies on classes of problems that the evidence of its kernel does not show to be right."""

    code = "MLA536"


class EvidenceDiffers(ProveError):
    """A sample of recorded evidence, run again, gave other bits under the same semantics version."""

    code = "MLA538"


class PlannerCompileFailed(ProveError):
    """The host planner, which makes the work items of a proof, could not be compiled or linked."""

    code = "MLA537"
    exit_code = 16
