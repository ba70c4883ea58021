"""What is prepared when the page starts."""

from holdfast.web import app


def test_the_tiny_study_has_everything_that_pages_ask_for(monkeypatch):
    seen = []
    monkeypatch.setattr(app, "draw_figures", lambda summary: seen.append(summary))
    app.warm_with_tiny_study()
    (summary,) = seen
    assert summary.candidate is not None
    assert summary.features is not None
    assert len(summary.candidates) == 2
