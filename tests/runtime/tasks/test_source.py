"""A body that breaks its declarations is refused when it is defined, as far as that is plain to see."""

import pytest

from taskflow.runtime.tasks import Read, ReadWrite, Reduce, Write, box, offsets, star, task


def writes_read(p: Read, q: Write):
    q[...] = p[...]
    p[...] = 0.0


def adds_to_read(p: Read, q: Write):
    q[...] = 1.0
    p[...] += q


def unpacks_into_read(p: Read, q: Write):
    p[...], q[...] = 1.0, 2.0


def deletes_read(p: Read, q: Write):
    q[...] = 1.0
    del p[...]


def reads_write(p: Read, q: Write):
    q[...] = p[...] + q[...]


def adds_to_write(p: Read, q: Write):
    q[...] += p[...]


def reads_beyond(p: Read[1], q: Write):
    q[...] = p[0, 0, -1] + p[1, 0, 0] + p[0, 1, 1]


def reads_its_cell(p: Read[offsets(z=(1, 1))], q: ReadWrite):
    q[...] = p[0, 0, 1] + p[0, 0, 0]


def reads_beyond_inside(p: Read[star(2)], q: Write, *, s: Reduce[max]):
    for _ in range(2):
        if (lambda: p[0, 0, 3])() is not None:
            s.fold(p[...])


def writes_a_neighbour(q: ReadWrite[box(1)]):
    q[1, 0, 0] = 0.5 * q[...]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (writes_read, "line 10: field 'p' was declared Read and is written; declare it Write or ReadWrite"),
        (adds_to_read, "line 15: field 'p' was declared Read and is written"),
        (unpacks_into_read, "line 19: field 'p' was declared Read and is written"),
        (deletes_read, "line 24: field 'p' was declared Read and is written"),
        (reads_write, "line 28: field 'q' was declared Write and is read; declare it ReadWrite"),
        (adds_to_write, "line 32: field 'q' was declared Write and is read; declare it ReadWrite"),
        (reads_beyond, "line 36: field 'p' is read at the offset (0, 1, 1), outside its stencil; declare a wider one"),
        (reads_its_cell, "line 40: field 'p' is read at the offset (0, 0, 0), outside its stencil"),
        (reads_beyond_inside, "line 45: field 'p' is read at the offset (0, 0, 3), outside its stencil"),
        (
            writes_a_neighbour,
            "line 50: field 'q' is written at the offset (1, 0, 0); a task writes no cells but its own",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_refused(body, message):
    with pytest.raises(TypeError) as caught:
        task(body)
    assert f"task {body.__name__}, {message}" in str(caught.value)


def gives_its_name_to_more(p: Read, q: Write):
    q, r = p[...], 1
    del q, r


def forgets(p: Read, q: Write):
    r = p[...]
    del r


@pytest.mark.parametrize("body", [gives_its_name_to_more, forgets])
def test_what_is_declared_write_is_written(body):
    message = rf"task {body.__name__}: field 'q' was declared Write and is never written: write q\[...\] = ..."
    with pytest.raises(TypeError, match=message):
        task(body)


def writes_by_another_name(p: Read, q: Write):
    r = q
    r[...] = p[...]


def writes_by_a_call(p: Read, q: Write):
    a = p[...]
    keeps_its_word(a, a, a, q)


def writes_by_a_call_alone(p: Read, q: Write):
    keeps_its_word(*locals().values())


def only_says(p: Read, q: Write):
    """q = p"""


def keeps_its_word(p: Read[1], r: Read[offsets(x=(1, 2))], q: ReadWrite, s: Write):
    q[...] += p[0, 0, 1] - p[...]
    s[...] = r[2, 0, 0]
    n = 1
    s[...] = p[n, 0, 0] if n else p[n + 1, 1, 1]


def rebinds(p: Read, q: Write):
    p = p[...].copy()
    p[0, 0, 0] = 1.0
    q[...] = p


def test_accepted():
    assert task(keeps_its_word).name == "keeps_its_word"
    assert task(rebinds).name == "rebinds"
    for body in (writes_by_another_name, writes_by_a_call, writes_by_a_call_alone, only_says):
        assert task(body).name == body.__name__


def test_a_body_without_source_is_left_to_its_views():
    scope = {"Read": Read, "Write": Write}
    exec("def nowhere(p: Read, q: Write):\n    p[...] = 1.0\n", scope)
    assert task(scope["nowhere"]).name == "nowhere"


def test_the_body_of_a_kernel_is_not_looked_at():
    @task(kernel="TASK kernel(Range r, In p, Out q) {\n}\n")
    def kernel(p: Read, q: Write):
        """Only words: `p[...] = 1`."""
        p[...] = 1.0

    assert kernel.name == "kernel"
