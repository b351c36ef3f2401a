"""Steps run when their inputs, their declaration or their outputs changed, and only then."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from build_tools import settings
from build_tools.build_graph import graph, imports, pipeline, plan, steps
from build_tools.build_graph.graph import Step
from build_tools.code_object.errors import WrongArch
from build_tools.errors import ObjectChanged, StepFailed

ROOT = Path(__file__).resolve().parents[3]


class Runs:
    """A tree with one step that copies its input, and a count of its runs."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.count = 0
        self.step = Step("copy", "copy", ("in",), ("out/copy",), {"note": 1})
        (root / "in").write_text("one", encoding="utf-8")
        monkeypatch.setitem(steps.STEPS, "copy", self.copy)

    def copy(self, root: Path, step: Step, _: steps.Report) -> None:
        self.count += 1
        (root / step.outputs[0]).write_bytes((root / step.inputs[0]).read_bytes())

    def run(self, step: Step | None = None) -> bool:
        return steps.run(self.root, step or self.step, self.root / "stamps", lambda _: None)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(tmp_path, monkeypatch)


def test_a_step_runs_once_for_the_same_content_whatever_its_time(runs: Runs) -> None:
    assert runs.run()
    (runs.root / "in").write_text("one", encoding="utf-8")
    assert not runs.run()
    (runs.root / "in").write_text("two", encoding="utf-8")
    assert runs.run()
    assert runs.count == 2
    assert (runs.root / "out/copy").read_text(encoding="utf-8") == "two"


def test_a_changed_declaration_runs_the_step(runs: Runs) -> None:
    runs.run()
    assert runs.run(replace(runs.step, parameters={"note": 2}))


def test_a_damaged_or_missing_output_runs_the_step(runs: Runs) -> None:
    runs.run()
    (runs.root / "out/copy").write_text("damaged", encoding="utf-8")
    assert runs.run()
    (runs.root / "out/copy").unlink()
    assert runs.run()
    (runs.root / "stamps/copy.json").write_text("{", encoding="utf-8")
    assert runs.run()


def test_only_outputs_that_their_step_did_not_make_are_dropped(runs: Runs) -> None:
    runs.run()
    steps.drop_damaged(runs.root, [runs.step], runs.root / "stamps")
    assert (runs.root / "out/copy").is_file()
    (runs.root / "out/copy").write_text("damaged", encoding="utf-8")
    steps.drop_damaged(runs.root, [runs.step], runs.root / "stamps")
    assert not (runs.root / "out/copy").exists()


def test_a_step_that_is_never_current_always_runs(runs: Runs) -> None:
    always = replace(runs.step, always=True)
    assert [runs.run(always), runs.run(always)] == [True, True]


def test_a_shared_step_is_current_in_the_graph_of_every_choice_of_archs(runs: Runs) -> None:
    shared = replace(runs.step, shared=True)
    ran = [steps.run(runs.root, shared, runs.root / folder, lambda _: None) for folder in ("build/stamps", "build/only-gfx942/stamps")]
    assert ran == [True, False]
    (runs.root / "out/copy").write_text("damaged", encoding="utf-8")
    steps.drop_damaged(runs.root, [shared], runs.root / "build/only-gfx942/stamps")
    assert not (runs.root / "out/copy").exists()


def test_the_emulator_is_compiled_for_every_level_and_shared_by_all_graphs() -> None:
    graphs = [plan.steps(ROOT, settings.read(ROOT / "hsa", {"AITER_MLA_AOT_ARCHS": archs})) for archs in ("gfx942", "gfx942,gfx950")]
    one, both = ([step for step in found if step.shared] for found in graphs)
    assert one == both
    (executor,) = (step for step in both if step.name == "compile-emulator-exec-mubuf")
    assert len(executor.outputs) == 3
    assert both[-1].inputs[: len(both[-1].parameters["objects"])] == tuple(both[-1].parameters["objects"])


def test_a_graph_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    found = plan.steps(ROOT, settings.read(ROOT / "hsa", {}))
    graph.save(found, tmp_path / "graph.json")
    assert tuple(graph.load(tmp_path / "graph.json").values()) == found


def test_every_output_has_one_step_and_every_built_input_a_step_before_it() -> None:
    found = plan.steps(ROOT, settings.read(ROOT / "hsa", {}))
    made: set[str] = set()
    for step in found:
        assert not made & set(step.outputs)
        assert {path for path in step.inputs if path.startswith("build/")} <= made, step.name
        assert all(path.startswith("build/") for path in step.outputs)
        made |= set(step.outputs)


def test_the_graph_names_no_place_of_the_tree() -> None:
    assert str(ROOT) not in json.dumps([step.parameters for step in plan.steps(ROOT, settings.read(ROOT / "hsa", {}))])


def test_a_wheel_of_one_arch_has_a_graph_without_the_other() -> None:
    found = plan.steps(ROOT, settings.read(ROOT / "hsa", {"AITER_MLA_AOT_ARCHS": "gfx942"}))
    # The build record names the known archs, so that a reader can tell what was left out.
    rest = [{name: value for name, value in step.parameters.items() if name != "build_info"} for step in found]
    assert "gfx950" not in json.dumps([[(step.inputs, step.outputs) for step in found], rest])


def test_ninja_gets_paths_with_spaces_and_dollars_right() -> None:
    text = graph.ninja([Step("s", "k", ("a b", "c$d"), ("out:1",))], "build/graph.json", "/a python/bin/python")
    assert "build out$:1: step a$ b c$$d\n" in text
    assert "'/a python/bin/python' -m build_tools _step build/graph.json $step $declaration" in text


def test_the_sources_of_a_module_are_what_it_imports_directly_or_not() -> None:
    found = imports.sources(ROOT, "build_tools.dispatch_table.table")
    assert {
        "build_tools/dispatch_table/table.py",
        "build_tools/data/catalog.py",
        "build_tools/data/data_file.py",
        "aiter_mla_aot/problem.py",
    } <= set(found)
    assert "build_tools/build_graph/pipeline.py" not in found
    assert imports.sources(ROOT, "json") == ()


def test_the_error_of_a_step_is_raised_as_what_it_is(tmp_path: Path) -> None:
    for kind in (ObjectChanged, WrongArch):
        row = {"step": "x", "code": kind.code, "fact": "fact", "cause": "cause", "remedy": "remedy"}
        (tmp_path / "error.json").write_text(json.dumps(row), encoding="utf-8")
        error = pipeline._failure(tmp_path, "")
        assert type(error) is kind
        assert (error.fact, error.cause, error.remedy) == ("fact", "cause", "remedy")


def test_a_step_that_left_no_error_gives_what_was_printed(tmp_path: Path) -> None:
    error = pipeline._failure(tmp_path, "Killed")
    assert type(error) is StepFailed
    assert error.cause == "Killed"
