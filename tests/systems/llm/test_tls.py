"""Certificates: one that is not trusted is one sentence; one that the user vouches for is as good as any."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from memtrial.systems.models.llm import transport
from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.outcome import EndpointUnreachable, Reply
from memtrial.systems.models.llm.settings import ModelSettings
from tests.systems.llm.scripted import ScriptedServer, says


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def serving(authority: trustme.CA, name: str) -> ScriptedServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return ScriptedServer([says()], tls=context)


@pytest.fixture
def server(authority: trustme.CA) -> Iterator[ScriptedServer]:
    with serving(authority, "127.0.0.1") as found:
        yield found


@pytest.fixture(autouse=True)
def _no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


def ask(server: ScriptedServer) -> Reply:
    async def body() -> Reply:
        client = Client(ModelSettings(model="m", base_url=server.url, max_retries=3))
        try:
            return await client.complete("read", [{"role": "user", "content": "hi"}])
        finally:
            await client.aclose()

    return asyncio.run(asyncio.wait_for(body(), 30))


def test_a_certificate_that_nobody_vouches_for_ends_the_run(server: ScriptedServer) -> None:
    with pytest.raises(EndpointUnreachable) as stop:
        ask(server)
    assert str(stop.value).startswith(f"the certificate of {server.url} (")
    assert "is not trusted" in str(stop.value) and "SSL_CERT_FILE" in str(stop.value)
    assert "\n" not in str(stop.value)
    assert (stop.value.reply.status, stop.value.reply.attempts) == ("connection", 1)
    assert not server.requests  # neither key nor prompt was sent


def test_a_certificate_of_ones_own_authority_is_taken(
    server: ScriptedServer, authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert ask(server).ok


def test_a_certificate_of_another_name_is_not_taken(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with serving(authority, "elsewhere.example") as server, pytest.raises(EndpointUnreachable, match="certificate"):
        ask(server)


def test_a_server_without_tls_is_no_endpoint_of_https(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_CONNECT_S", 0.5)  # such a server waits for more of what it takes for a request
    with ScriptedServer([says()]) as plain:
        told = ModelSettings(model="m", base_url=plain.url.replace("http:", "https:"), max_retries=0)

        async def body() -> Reply:
            client = Client(told)
            try:
                return await client.complete("read", [{"role": "user", "content": "hi"}])
            finally:
                await client.aclose()

        with pytest.raises(EndpointUnreachable, match="nothing can be reached at https"):
            asyncio.run(asyncio.wait_for(body(), 30))
