"""The cache that threads share: it holds so many values, and drops the one that was used least recently."""

from concurrent.futures import ThreadPoolExecutor

from scenecypher.db.store.sharing import LRUCache


def test_a_full_cache_drops_what_was_used_least_recently() -> None:
    cache = LRUCache[str, int](2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]
    cache.put("a", 4)
    cache.put("d", 5)
    assert [cache.get(key) for key in "acd"] == [4, None, 5]


def test_a_value_is_made_once_and_then_kept() -> None:
    cache, made = LRUCache[str, int](2), list[int]()

    def create() -> int:
        made.append(7)
        return 7

    assert [cache.get_or_create("a", create) for _ in range(3)] == [7, 7, 7]
    assert made == [7]


def test_threads_never_put_more_into_it_than_it_holds() -> None:
    cache = LRUCache[int, int](10)

    def work(start: int) -> None:
        for number in range(2_000):
            cache.put((start * number) % 97, number)
            cache.get(number % 97)

    with ThreadPoolExecutor(8) as pool:
        assert len([*pool.map(work, range(1, 9))]) == 8
    assert sum(cache.get(key) is not None for key in range(97)) == 10
