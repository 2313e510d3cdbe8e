// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/net/tls_internal.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/impl/src.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

namespace trainyard::live::net {

namespace {

Error badFile(const std::string &file, std::string what, std::string right)
{
    ERR_clear_error();
    return { ErrorCode::BadValue, file, std::move(what), std::move(right) };
}

/// What OpenSSL says last, without its numbers.
std::string lastReason()
{
    const unsigned long code = ERR_peek_last_error();
    const char *const reason = code ? ERR_reason_error_string(code) : nullptr;
    return reason ? reason : "unknown";
}

Expected<TlsContextPtr> makeContext(asio::ssl::context::method method)
{
    ErrorCodeOfSystem fault;
    auto context = std::make_shared<asio::ssl::context>(method);
    if (SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION) != 1)
        return std::unexpected(Error { ErrorCode::Internal, "TLS", lastReason(), "OpenSSL with TLS 1.2" });
    SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    return context;
}

Expected<void> checkReadable(const std::string &file, const std::string &what)
{
    std::error_code fault;
    if (file.empty())
        return std::unexpected(
            Error { ErrorCode::BadValue, what, "no file is named", "a PEM file: TLS needs a certificate and its key" });
    if (!std::filesystem::is_regular_file(file, fault))
        return std::unexpected(badFile(file, fault ? fault.message() : "it is no file", what + " as a PEM file"));
    return {};
}

std::string dateOf(const ASN1_TIME *time)
{
    std::tm parts {};
    std::array<char, 32> text {};
    if (!time || ASN1_TIME_to_tm(time, &parts) != 1
        || std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts) == 0)
        return "an unknown date";
    return text.data();
}

std::string commonName(const X509_NAME *name)
{
    std::array<char, 256> text {};
    const bool isThere =
        name && X509_NAME_get_text_by_NID(const_cast<X509_NAME *>(name), NID_commonName, text.data(), text.size()) > 0;
    return isThere ? text.data() : std::string("without a name");
}

/// The names and addresses that a certificate is for, a few of them.
std::string namesOf(X509 *certificate)
{
    constexpr int kMostShown = 4;
    std::string text;
    int shown = 0;
    auto *names = static_cast<GENERAL_NAMES *>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
    for (int at = 0; names && at < sk_GENERAL_NAME_num(names) && shown < kMostShown; ++at) {
        const GENERAL_NAME *const name = sk_GENERAL_NAME_value(names, at);
        std::string one;
        if (name->type == GEN_DNS) {
            one.assign(reinterpret_cast<const char *>(ASN1_STRING_get0_data(name->d.dNSName)),
                static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
        } else if (name->type == GEN_IPADD) {
            const unsigned char *const bytes = ASN1_STRING_get0_data(name->d.iPAddress);
            if (ASN1_STRING_length(name->d.iPAddress) == 4) {
                asio::ip::address_v4::bytes_type four {};
                std::copy_n(bytes, 4, four.begin());
                one = asio::ip::address_v4(four).to_string();
            } else if (ASN1_STRING_length(name->d.iPAddress) == 16) {
                asio::ip::address_v6::bytes_type sixteen {};
                std::copy_n(bytes, 16, sixteen.begin());
                one = asio::ip::address_v6(sixteen).to_string();
            }
        }
        if (one.empty())
            continue;
        text += (shown++ ? ", " : "") + one.substr(0, 100);
    }
    GENERAL_NAMES_free(names);
    return text.empty() ? commonName(X509_get_subject_name(certificate)) : text;
}

} // namespace

Expected<TlsContextPtr> makeClientTls(const SourceSettings &settings)
{
    auto made = makeContext(asio::ssl::context::tls_client);
    if (!made)
        return made;
    asio::ssl::context &context = **made;
    ErrorCodeOfSystem fault;
    if (!settings.isVerified) {
        context.set_verify_mode(asio::ssl::verify_none, fault);
        return made;
    }
    context.set_verify_mode(asio::ssl::verify_peer, fault);
    if (settings.caFile.empty()) {
        context.set_default_verify_paths(fault);
        return made;
    }
    if (const auto readable = checkReadable(settings.caFile, "certificates that are trusted"); !readable)
        return std::unexpected(readable.error());
    if (SSL_CTX_load_verify_locations(context.native_handle(), settings.caFile.c_str(), nullptr) != 1)
        return std::unexpected(
            badFile(settings.caFile, "no certificate can be read of it (" + lastReason() + ")", "certificates as PEM"));
    return made;
}

Expected<TlsContextPtr> makeServerTls(const SourceSettings &settings)
{
    if (const auto readable = checkReadable(settings.certificateFile, "certificate"); !readable)
        return std::unexpected(readable.error());
    // One file may hold both.
    const std::string keyFile = settings.keyFile.empty() ? settings.certificateFile : settings.keyFile;
    if (const auto readable = checkReadable(keyFile, "private key"); !readable)
        return std::unexpected(readable.error());
    auto made = makeContext(asio::ssl::context::tls_server);
    if (!made)
        return made;
    SSL_CTX *const context = (*made)->native_handle();
    // Never asks on a terminal for a passphrase.
    const auto isLocked = std::make_shared<bool>(false);
    ErrorCodeOfSystem fault;
    (*made)->set_password_callback(
        [isLocked](std::size_t, asio::ssl::context::password_purpose) {
            *isLocked = true;
            return std::string();
        },
        fault);
    if (SSL_CTX_use_certificate_chain_file(context, settings.certificateFile.c_str()) != 1)
        return std::unexpected(badFile(settings.certificateFile,
            "no certificate can be read of it (" + lastReason() + ")", "a certificate as PEM, its chain behind it"));
    if (SSL_CTX_use_PrivateKey_file(context, keyFile.c_str(), SSL_FILETYPE_PEM) != 1) {
        if (*isLocked)
            return std::unexpected(badFile(keyFile, "the key is locked by a passphrase", "a key without one"));
        const bool isOther = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH;
        return std::unexpected(badFile(keyFile,
            isOther ? "the key does not belong to the certificate"
                    : "no private key can be read of it (" + lastReason() + ")",
            isOther ? "the key of " + settings.certificateFile : "a private key as PEM"));
    }
    const X509 *const certificate = SSL_CTX_get0_certificate(context);
    if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
        return std::unexpected(badFile(settings.certificateFile,
            "the certificate expired on " + dateOf(X509_get0_notAfter(certificate)), "one that is valid today"));
    return made;
}

CertificateCheck::CertificateCheck(std::string host, std::shared_ptr<std::string> fault)
    : m_host(std::move(host))
    , m_fault(std::move(fault))
{
}

bool CertificateCheck::operator()(bool isGood, asio::ssl::verify_context &context) const
{
    if (isGood)
        return true;
    X509_STORE_CTX *const store = context.native_handle();
    X509 *const certificate = X509_STORE_CTX_get_current_cert(store);
    const int reason = X509_STORE_CTX_get_error(store);
    std::string &text = *m_fault;
    if (!text.empty())
        return false; // the first fault is told
    const std::string whose = certificate ? "the certificate \"" + commonName(X509_get_subject_name(certificate)) + '"'
                                          : std::string("the certificate");
    switch (reason) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        text = whose + " expired on " + dateOf(X509_get0_notAfter(certificate));
        break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        text = whose + " is valid from " + dateOf(X509_get0_notBefore(certificate)) + " on only";
        break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        text = whose + " is for " + namesOf(certificate) + ", not for " + m_host;
        break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        text = whose + " is signed by itself, and is not among those that are trusted";
        break;
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        text = whose + " is signed by \"" + commonName(certificate ? X509_get_issuer_name(certificate) : nullptr)
            + "\", which is not among those that are trusted";
        break;
    default:
        text = whose + ": " + X509_verify_cert_error_string(reason);
    }
    return false;
}

void expectHost(SSL *connection, const std::string &host)
{
    ErrorCodeOfSystem fault;
    asio::ip::make_address(host, fault);
    X509_VERIFY_PARAM *const asked = SSL_get0_param(connection);
    if (!fault) {
        X509_VERIFY_PARAM_set1_ip_asc(asked, host.c_str());
        return;
    }
    SSL_set_tlsext_host_name(connection, host.c_str());
    X509_VERIFY_PARAM_set_hostflags(asked, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    X509_VERIFY_PARAM_set1_host(asked, host.c_str(), host.size());
}

std::string reasonOfTls(const ErrorCodeOfSystem &fault, const std::string &certificateFault)
{
    if (!certificateFault.empty())
        return certificateFault;
    if (fault == asio::ssl::error::stream_truncated || fault == asio::error::eof)
        return "the peer closed the connection during the TLS handshake: it may not speak TLS";
    if (fault.category() != asio::error::get_ssl_category())
        return reasonOf(fault);
    const int reason = ERR_GET_REASON(static_cast<unsigned long>(fault.value()));
    if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST)
        return "the peer does not speak TLS";
    return "TLS: " + reasonOf(fault);
}

} // namespace trainyard::live::net
