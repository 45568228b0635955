"""What the user opened, and what stays shut whatever they wrote."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import pytest

from tests.cases import each_case
from toolcrib.core.errors import Blocked, ConfigError
from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.policy import EgressPolicy
from toolcrib.net.egress.url import host_target, parse_url


def policy(**settings: Any) -> EgressPolicy:
    return EgressPolicy.of(EgressConfig(**settings))


def code(rules: EgressPolicy, url: str, *addresses: str) -> str:
    """The code of the refusal, or `open`."""
    try:
        target = parse_url(url)
        rules.check(target)
        rules.check_answers(target, [ip_address(a) for a in addresses])
    except Blocked as error:
        assert error.message.startswith("Destination not allowed")
        assert error.hint
        return error.stable_code
    return "open"


LOCAL_NAMES = """
localhost LOCALHOST localhost. a.localhost a.localhost. localhost.localdomain ip6-localhost
ip6-loopback kubernetes kubernetes.default kubernetes.default.svc x.svc.cluster.local
host.docker.internal gateway.docker.internal host.containers.internal wiki.internal
printer.local router.home.arpa metadata metadata.google.internal instance-data
""".split()  # noqa: SIM905


@pytest.mark.rows("D15", "A37", "E132")
@each_case("name", LOCAL_NAMES)
def test_names_of_the_inside_are_refused_before_they_resolve(name: str) -> None:
    assert code(EgressPolicy(), f"http://{name}/") == "blocked_host"


@each_case("name", ["example.com", "a_b.example", "local.example", "localhost.com"])
def test_names_of_the_outside_are_open(name: str) -> None:
    assert code(EgressPolicy(), f"https://{name}/", "1.1.1.1", "2606:4700::1") == "open"


@pytest.mark.rows("D18")
def test_one_refused_answer_refuses_the_name() -> None:
    assert code(EgressPolicy(), "http://a.test/", "1.1.1.1", "10.0.0.1") == "blocked_address"


@each_case("port", [22, 25, 53, 110, 143, 445, 3306, 5432, 6379, 9200, 11211, 27017])
def test_ports_of_other_services_are_refused(port: int) -> None:
    assert code(EgressPolicy(), f"http://example.com:{port}/") == "blocked_port"
    assert code(policy(allow_ports=[port]), f"http://example.com:{port}/", "1.1.1.1") == "open"


@each_case("port", [80, 443, 3000, 8000, 8080, 8443, 8888, 49152, 65535])
def test_ports_of_web_servers_are_open(port: int) -> None:
    assert code(EgressPolicy(), f"http://example.com:{port}/", "1.1.1.1") == "open"


def test_port_zero_is_refused() -> None:
    assert code(EgressPolicy(), "http://example.com:0/") == "blocked_port"


@pytest.mark.rows("D20")
@each_case(
    ("entry", "url", "expected"),
    [
        ("wiki.corp", "http://wiki.corp/", "open"),
        ("wiki.corp", "http://wiki.corp:8080/", "open"),
        ("wiki.corp", "http://wiki.corp:6379/", "blocked_port"),
        ("wiki.corp:6379", "http://wiki.corp:6379/", "open"),
        ("wiki.corp:8080", "http://wiki.corp/", "blocked_address"),
        ("wiki.corp", "http://sub.wiki.corp/", "blocked_address"),
        ("*.corp", "http://a.b.corp/", "open"),
        ("*.corp", "http://corp/", "blocked_address"),
        ("*.corp", "http://acorp/", "blocked_address"),
        ("WIKI.corp.", "http://wiki.CORP/", "open"),
        ("bücher.corp", "http://xn--bcher-kva.corp/", "open"),
        ("localhost", "http://localhost/", "open"),
        ("localhost:3000", "http://localhost:3000/", "open"),
        ("localhost:3000", "http://localhost/", "blocked_host"),
        ("printer.local", "http://printer.local/", "open"),
    ],
)
def test_allowed_hosts(entry: str, url: str, expected: str) -> None:
    assert code(policy(allow_hosts=[entry]), url, "10.0.0.1") == expected


@each_case(
    ("entry", "url"),
    [
        ("127.0.0.1", "http://2130706433/"),
        ("127.0.0.1:8080", "http://127.1:8080/"),
        ("::1", "http://[::1]/"),
        ("[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080/"),
    ],
)
def test_allowed_literals(entry: str, url: str) -> None:
    assert code(policy(allow_hosts=[entry]), url) == "open"
    assert code(policy(allow_hosts=["10.9.9.9"]), url) == "blocked_address"


@each_case(
    "entry",
    [
        "*",
        "*.",
        "http://a",
        "a/b",
        "a:b",
        "a:99999",
        "x*y",
        "",
        "u@a",
        "*.1",
        "*.10.0.0.1",
        "*.[::1]",
    ],
)
def test_other_forms_are_a_configuration_error(entry: str) -> None:
    with pytest.raises(ConfigError) as caught:
        policy(allow_hosts=[entry])
    assert "allow_hosts" in caught.value.message


def test_a_broken_network_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError):
        policy(allow_networks=["10.0.0.0/99"])


@pytest.mark.rows("D20")
def test_allowed_networks_open_addresses_and_private_names() -> None:
    rules = policy(allow_networks=["10.0.0.0/8", "fd00::/8"])
    assert code(rules, "http://10.1.2.3/") == "open"
    assert code(rules, "http://[::ffff:10.1.2.3]/") == "open"
    assert code(rules, "http://[fd12::1]/") == "open"
    assert code(rules, "http://wiki.internal/", "10.0.0.1") == "open"
    assert code(rules, "http://192.168.0.1/") == "blocked_address"
    assert code(rules, "http://localhost/", "127.0.0.1") == "blocked_host"


def test_an_opened_translator_does_not_open_what_it_carries() -> None:
    rules = policy(allow_networks=["64:ff9b::/96"])
    assert code(rules, "http://a.test/", "64:ff9b::808:808") == "open"
    assert code(rules, "http://a.test/", "64:ff9b::a00:1") == "blocked_address"


METADATA = """
169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16 [fd00:ec2::254]
[fd20:ce::254] [::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::]
""".split()  # noqa: SIM905
WIDE = ["0.0.0.0/0", "::/0", "169.254.0.0/16", "169.254.169.254/32", "100.64.0.0/10"]


@each_case("host", METADATA)
def test_metadata_never_opens_by_a_network(host: str) -> None:
    assert code(policy(allow_networks=WIDE), f"http://{host}/") == "blocked_address"


@each_case("host", [h for h in METADATA if h[0] != "["])
def test_metadata_opens_to_its_own_literal_alone(host: str) -> None:
    assert code(policy(allow_hosts=[host]), f"http://{host}/") == "open"
    assert code(policy(allow_hosts=["9.9.9.9"]), f"http://{host}/") == "blocked_address"


def test_metadata_never_opens_by_a_name() -> None:
    google = "http://metadata.google.internal/"
    for entry in ("*.google.internal", "*.internal"):
        assert code(policy(allow_hosts=[entry]), google) == "blocked_host"
    for entry in ("wiki.corp", "*.corp"):
        rules = policy(allow_hosts=[entry])
        assert code(rules, "http://wiki.corp/", "169.254.169.254") == "blocked_address"
    both = policy(allow_hosts=["metadata.google.internal", "169.254.169.254"])
    assert code(both, google, "169.254.169.254") == "open"
    one = policy(allow_hosts=["metadata.google.internal"])
    assert code(one, google, "169.254.169.254") == "blocked_address"


def test_metadata_never_opens_as_an_endpoint_that_resolves_to_it() -> None:
    rules = EgressPolicy().widened(endpoints=["http://search.corp/"])
    assert code(rules, "http://search.corp/", "169.254.169.254") == "blocked_address"


def test_an_endpoint_opens_exactly_its_origin() -> None:
    rules = EgressPolicy().widened(endpoints=["http://127.0.0.1:8888/searxng/search"])
    assert code(rules, "http://127.0.0.1:8888/other") == "open"
    assert code(rules, "https://127.0.0.1:8888/") == "blocked_address"
    assert code(rules, "http://127.0.0.1:8889/") == "blocked_address"
    assert code(rules, "http://127.0.0.2:8888/") == "blocked_address"
    assert code(EgressPolicy(), "http://127.0.0.1:8888/") == "blocked_address"


def test_an_endpoint_opens_to_a_tunnel_by_host_and_port() -> None:
    rules = EgressPolicy().widened(endpoints=["https://127.0.0.1:8443/"])
    rules.check(host_target("127.0.0.1", 8443))
    with pytest.raises(Blocked):
        rules.check(host_target("127.0.0.1", 443))


@each_case(
    ("glob", "url", "expected"),
    [
        ("ads.example", "http://ads.example/", "blocked_host"),
        ("*.ads.example", "http://x.ads.example/", "blocked_host"),
        ("*.ads.example", "http://ads.example/", "open"),
        ("ADS.example", "http://ads.EXAMPLE./", "blocked_host"),
        ("10.*", "http://wiki.corp/", "blocked_address"),
        ("10.0.0.0/24", "http://wiki.corp/", "blocked_address"),
        ("10.0.1.0/24", "http://wiki.corp/", "open"),
        ("10.1", "http://wiki.corp/", "blocked_address"),
        ("wiki.corp:8080", "http://wiki.corp:8080/", "blocked_host"),
        ("wiki.corp:8080", "http://wiki.corp/", "open"),
        ("ads.example.", "http://ads.example/", "blocked_host"),
    ],
)
def test_denied_hosts_win_over_all_that_is_allowed(glob: str, url: str, expected: str) -> None:
    rules = policy(
        deny_hosts=[glob],
        allow_hosts=["ads.example", "*.ads.example", "wiki.corp"],
        allow_networks=["10.0.0.0/8"],
    )
    assert code(rules, url, "10.0.0.1") == expected


def test_a_refusal_names_host_address_rule_and_setting() -> None:
    rules = EgressPolicy().widened(allow_hosts=["other.corp"], setting="web.fetch")
    with pytest.raises(Blocked) as caught:
        rules.check_address(parse_url("http://wiki.corp:8080/"), ip_address("10.0.0.1"))
    error = caught.value
    assert error.message == (
        "Destination not allowed: wiki.corp resolves to 10.0.0.1, which is a private network."
    )
    assert error.hint == ('The user can open it: add "wiki.corp:8080" to web.fetch.allow_hosts.')
    assert error.details["host"] == "wiki.corp"
    assert error.details["address"] == "10.0.0.1"


def test_a_refusal_says_what_an_address_carries() -> None:
    with pytest.raises(Blocked) as caught:
        EgressPolicy(allow_networks=policy(allow_networks=["64:ff9b::/96"]).allow_networks).check(
            parse_url("http://[64:ff9b::a00:1]/")
        )
    assert "carries 10.0.0.1 inside" in caught.value.message


@each_case(
    ("entry", "url"),
    [
        ("bücher.de", "https://xn--bcher-kva.de/"),
        ("*.bücher.de", "https://www.xn--bcher-kva.de/"),
        ("*.xn--bcher-kva.de", "https://www.bücher.de/"),
        ("[2606:4700::1]", "https://[2606:4700::1]/"),
        ("[2606:4700::1]:443", "https://[2606:4700::1]/"),
        ("2606:4700:0:0:0:0:0:1", "https://[2606:4700::1]/"),
        ("2606:4700::/32", "https://[2606:4700::1]/"),
        ("evil3.com:443", "https://evil3.com/"),
        ("0x8.8.8.8", "https://8.8.8.8/"),
        ("::ffff:8.8.8.8", "https://8.8.8.8/"),
        ("8.8.8.0/24", "https://[::ffff:8.8.8.8]/"),
    ],
)
def test_a_denied_host_may_be_written_in_any_form(entry: str, url: str) -> None:
    assert code(policy(deny_hosts=["other.test"]), url) == "open"
    assert code(policy(deny_hosts=[entry]), url) in ("blocked_host", "blocked_address")


@pytest.mark.rows("F06")
@each_case(
    ("settings", "url", "expected"),
    [
        ({"schemes": ["https"]}, "http://example.org/", "blocked_scheme"),
        ({"schemes": ["https"]}, "https://example.org/", "open"),
        ({"schemes": "https", "allow_hosts": ["nas.lan"]}, "http://nas.lan/", "open"),
        ({"only_hosts": ["*.example.org"]}, "https://a.example.org/", "open"),
        ({"only_hosts": ["*.example.org"]}, "https://example.com/", "blocked_host"),
        ({"only_hosts": ["example.org:443"]}, "http://example.org/", "blocked_host"),
        ({"only_hosts": ["8.8.0.0/16"]}, "https://8.8.8.8/", "open"),
        ({"only_hosts": ["8.8.0.0/16"]}, "https://1.1.1.1/", "blocked_host"),
        ({"only_hosts": ["*"]}, "http://127.0.0.1/", "blocked_address"),
        ({"only_hosts": ["a.org"], "deny_hosts": ["a.org"]}, "https://a.org/", "blocked_host"),
    ],
)
def test_what_the_user_narrows(settings: dict[str, Any], url: str, expected: str) -> None:
    assert code(policy(**settings), url) == expected


@each_case(
    "entry",
    [
        *("https://evil2.com", "evil.com/path", "http://10.0.0.0/8", "10.0.0.0/99"),
        *("evil.com:99999", "evil.com:x", "u@evil.com", ".evil.com", "a..b", "fd00:*"),
        *("bü*.de", "[x]"),
    ],
)
def test_a_denied_host_in_another_form_is_a_configuration_error(entry: str) -> None:
    with pytest.raises(ConfigError) as caught:
        policy(deny_hosts=[entry])
    assert "egress.deny_hosts" in caught.value.message


@each_case(
    "host",
    [
        "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1:a9:fe:a9fe::",
        "64:ff9b:1:0:a9:fea9:fe00:0",
        "64:ff9b:1:1::a9fe:a9fe",
    ],
)
def test_no_layout_of_a_local_translator_hides_metadata(host: str) -> None:
    assert code(policy(allow_networks=["::/0"]), f"http://[{host}]/") == "blocked_address"


@pytest.mark.parametrize("host", ["64:ff9b:1::808:808", "64:ff9b:1:808:8:800::"])
def test_an_opened_local_translator_leads_to_the_public(host: str) -> None:
    assert code(policy(allow_networks=["64:ff9b:1::/48"]), f"http://[{host}]/") == "open"


@each_case("url", ["http://0.0.0.0:8123/", "http://[::]:8123/"])
def test_all_addresses_are_not_to_be_opened(url: str) -> None:
    with pytest.raises(Blocked) as caught:
        EgressPolicy().check(parse_url(url))
    assert "127.0.0.1" in caught.value.hint
    assert "allow_hosts" not in caught.value.hint
