#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A peer that speaks TLS by OpenSSL alone and checks no certificate: it attacks a server, it trusts none.

#include "tests/core/live/net/peer.h"

#include <openssl/ssl.h>

#include <memory>

namespace trainyard::live::testing {

class TlsPeer {
public:
    /// connected; the handshake is done by shakeHands()
    explicit TlsPeer(std::uint16_t port)
        : m_peer(port)
        , m_context(SSL_CTX_new(TLS_client_method()))
        , m_tls(SSL_new(m_context.get()))
    {
        SSL_set_fd(m_tls.get(), m_peer.handle());
    }
    [[nodiscard]] bool shakeHands() { return SSL_connect(m_tls.get()) == 1; }
    /// False: the other end closed it.
    bool send(std::string_view bytes)
    {
        return SSL_write(m_tls.get(), bytes.data(), int(bytes.size())) == int(bytes.size());
    }
    /// What comes at once; empty: the other end closed it.
    std::string read()
    {
        std::string part(65'536, '\0');
        const int got = SSL_read(m_tls.get(), part.data(), int(part.size()));
        part.resize(got > 0 ? std::size_t(got) : 0);
        return part;
    }
    [[nodiscard]] Peer &peer() { return m_peer; }

private:
    struct Freed {
        void operator()(SSL_CTX *context) const { SSL_CTX_free(context); }
        void operator()(SSL *tls) const { SSL_free(tls); }
    };
    Peer m_peer;
    std::unique_ptr<SSL_CTX, Freed> m_context;
    std::unique_ptr<SSL, Freed> m_tls;
};

} // namespace trainyard::live::testing
