"""The windows of the tests themselves: what goes wrong in them is seen, and nothing leaves the machine."""

from __future__ import annotations

from tests.browser.chromium import Window

FAULTS = """async () => {
    console.error("a fault");
    setTimeout(() => { throw new Error("another") });
    await fetch("http://elsewhere.example/").catch(() => {});
}"""


def test_errors_and_requests_to_other_hosts_are_seen(chromium: Window) -> None:
    chromium.page.evaluate(FAULTS)
    with chromium.page.expect_event("pageerror", lambda error: "a third" in str(error)):
        chromium.page.evaluate("setTimeout(() => { throw new Error('a third') })")
    told = "\n".join(chromium.faults)
    expected = ("a fault", "another", "a third", "leaves this machine: http://elsewhere.example/", "ERR_NAME_NOT_RES")
    chromium.allow("fault", "another", "a third", "elsewhere.example", "ERR_NAME_NOT_RESOLVED")
    assert [it for it in expected if it not in told] == []
    assert chromium.faults == []


def test_a_window_is_not_of_the_test_before(chromium: Window) -> None:
    assert chromium.context.cookies() == []
    assert chromium.page.url == "about:blank"
