#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Certificates that a test makes for itself, as PEM files: of an authority of its own, for names, for days.

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <string>

namespace trainyard::live::testing {

struct CertificateAsked {
    std::string name = "localhost"; // common name
    std::string names = "DNS:localhost,IP:127.0.0.1"; // subjectAltName
    long validFrom = -3'600, validTo = 86'400; // seconds from now
    bool isAuthority = false;
    std::string passphrase; // of the key's file
};

class Certificate {
public:
    /// Signed by `issuer`, or by itself.
    explicit Certificate(const CertificateAsked &asked, const Certificate *issuer = nullptr)
        : m_key(EVP_EC_gen("P-256"), EVP_PKEY_free)
        , m_certificate(X509_new(), X509_free)
        , m_passphrase(asked.passphrase)
    {
        static long serial = 1;
        X509 *const made = m_certificate.get();
        X509_set_version(made, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
        X509_gmtime_adj(X509_getm_notBefore(made), asked.validFrom);
        X509_gmtime_adj(X509_getm_notAfter(made), asked.validTo);
        X509_set_pubkey(made, m_key.get());
        X509_NAME *const name = X509_get_subject_name(made);
        X509_NAME_add_entry_by_txt(
            name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char *>(asked.name.c_str()), -1, -1, 0);
        X509_set_issuer_name(made, issuer ? X509_get_subject_name(issuer->m_certificate.get()) : name);
        X509V3_CTX context {};
        X509V3_set_ctx(&context, issuer ? issuer->m_certificate.get() : made, made, nullptr, nullptr, 0);
        if (asked.isAuthority) {
            extend(context, NID_basic_constraints, "critical,CA:TRUE");
            extend(context, NID_key_usage, "critical,keyCertSign,cRLSign");
        }
        if (!asked.names.empty())
            extend(context, NID_subject_alt_name, asked.names.c_str());
        X509_sign(made, issuer ? issuer->m_key.get() : m_key.get(), EVP_sha256());
    }

    void writeCertificate(const std::string &path) const
    {
        FILE *const file = std::fopen(path.c_str(), "w");
        PEM_write_X509(file, m_certificate.get());
        std::fclose(file);
    }
    void writeKey(const std::string &path) const
    {
        FILE *const file = std::fopen(path.c_str(), "w");
        const EVP_CIPHER *const cipher = m_passphrase.empty() ? nullptr : EVP_aes_256_cbc();
        PEM_write_PrivateKey(file, m_key.get(), cipher, nullptr, 0, nullptr,
            m_passphrase.empty() ? nullptr : const_cast<char *>(m_passphrase.c_str()));
        std::fclose(file);
    }

private:
    void extend(X509V3_CTX &context, int kind, const char *value)
    {
        X509_EXTENSION *const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
        X509_add_ext(m_certificate.get(), extension, -1);
        X509_EXTENSION_free(extension);
    }

    std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> m_key;
    std::unique_ptr<X509, decltype(&X509_free)> m_certificate;
    std::string m_passphrase;
};

} // namespace trainyard::live::testing
