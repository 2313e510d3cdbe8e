#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A real Prometheus server (Debian's package) for tests: it scrapes an exporter on loopback ten times a second.

#include "core/live/address.h"
#include "tests/support/loopback.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>

namespace trainyard::live {

inline QString serverProgram()
{
    const QString unpacked = QStringLiteral(TRAINYARD_TEST_SERVERS "/usr/bin/prometheus");
    return QFile::exists(unpacked) ? unpacked : QStandardPaths::findExecutable(QStringLiteral("prometheus"));
}

class PrometheusServer {
public:
    PrometheusServer(int exporter, const QByteArray &web = {})
        : m_port(test::freePort())
    {
        write("prometheus.yml",
            "global: {scrape_interval: 100ms, scrape_timeout: 100ms}\nscrape_configs: [{job_name: dcgm, "
            "static_configs: "
            "[{targets: ['127.0.0.1:"
                + QByteArray::number(exporter) + "']}]}]\n");
        write("web.yml", web);
        start();
    }
    ~PrometheusServer() { stop(); }
    void start()
    {
        m_process.setProcessChannelMode(QProcess::MergedChannels);
        m_process.start(serverProgram(),
            { "--config.file=" + m_folder.filePath("prometheus.yml"),
                "--storage.tsdb.path=" + m_folder.filePath("data"), "--web.config.file=" + m_folder.filePath("web.yml"),
                QStringLiteral("--web.listen-address=127.0.0.1:%1").arg(m_port) });
    }
    void stop()
    {
        m_process.terminate();
        if (!m_process.waitForFinished(20'000))
            m_process.kill();
        m_process.waitForFinished(20'000);
    }
    [[nodiscard]] Address address() const
    {
        return { .type = SourceType::Prometheus, .host = "127.0.0.1", .port = std::uint16_t(m_port) };
    }
    [[nodiscard]] QString file(const char *name) const { return m_folder.filePath(QLatin1String(name)); }
    void write(const char *name, const QByteArray &text)
    {
        QFile made(m_folder.filePath(QLatin1String(name)));
        if (made.open(QIODevice::WriteOnly))
            made.write(text);
    }
    [[nodiscard]] QTemporaryDir &folder() { return m_folder; }

private:
    QTemporaryDir m_folder;
    QProcess m_process;
    int m_port;
};

} // namespace trainyard::live

#define NEEDS_SERVER                                                                                                   \
    if (serverProgram().isEmpty())                                                                                     \
    QSKIP("no prometheus on this machine: scripts/test-servers unpacks Debian's")
