#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// TLS 1.2 and later, of both ends: contexts made of a source's settings, and words for what of a certificate is wrong.

#include "core/live/address.h"
#include "core/live/net/loop_internal.h"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/verify_context.hpp>

#include <memory>
#include <string>

namespace trainyard::live::net {

using TlsContextPtr = std::shared_ptr<asio::ssl::context>;

/// Of settings.caFile, or what the system trusts. Errors: BadValue: the file cannot be read or holds no certificate.
[[nodiscard]] Expected<TlsContextPtr> makeClientTls(const SourceSettings &settings);
/// Of settings.certificateFile and keyFile. Errors: BadValue: which of the two is missing, no PEM, locked by a
/// passphrase, or does not belong to the other; a certificate that is over or not valid yet.
[[nodiscard]] Expected<TlsContextPtr> makeServerTls(const SourceSettings &settings);

/// Checks a server's certificate and its name, and remembers in words what is wrong. For stream.set_verify_callback().
class CertificateCheck {
public:
    CertificateCheck(std::string host, std::shared_ptr<std::string> fault);
    bool operator()(bool isGood, asio::ssl::verify_context &context) const;

private:
    std::string m_host;
    std::shared_ptr<std::string> m_fault;
};
/// Before a client's handshake: the name that it asks for, and that the certificate has to have.
void expectHost(SSL *connection, const std::string &host);
/// Why a handshake failed: `certificateFault` of the check where that is it.
[[nodiscard]] std::string reasonOfTls(const ErrorCodeOfSystem &fault, const std::string &certificateFault);

} // namespace trainyard::live::net
