#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One HTTP/1.1 request after the other to one server: kept alive, TLS where asked, gzip and deflate unpacked, bounded
// in time and size. Loop's thread alone.

#include "core/base/error.h"
#include "core/live/address.h"
#include "core/live/net/loop.h"

#include <map>
#include <string>

namespace trainyard::live::net {

struct HttpRequest {
    /// "/api/v1/query?query=up"
    std::string method = "GET", target;
    /// beside those of the settings
    std::map<std::string, std::string> headers;
    std::string body;
    double secondsAtMost = 30;
    /// of the answer, unpacked
    std::size_t bytesAtMost = std::size_t(256) << 20;
};
struct HttpAnswer {
    int status = 0;
    /// names in lower case
    std::map<std::string, std::string> headers;
    /// unpacked
    std::string body;
    /// from sending to the last byte
    double seconds = 0;
};
using HttpDone = std::function<void(Expected<HttpAnswer> answer)>;

class HttpClient {
public:
    /// host, port, path prefix and TLS of the address; credentials, headers and CA of the settings.
    HttpClient(Loop &loop, const Address &address, const SourceSettings &settings);
    /// no done is called afterwards
    ~HttpClient();
    /// One at a time. Errors: CannotRead with host, port and why: no such host, refused, timed out, TLS (what of the
    /// certificate), too long, not HTTP. A status of 400 and more is an answer.
    void ask(HttpRequest request, HttpDone done);
    [[nodiscard]] bool isBusy() const;

private:
    struct Private;
    std::shared_ptr<Private> d;
};

} // namespace trainyard::live::net
