// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "tools/fits/key_tables.h"

#include <QFile>
#include <QTest>

using namespace trainyard;

class TstKeyTables : public QObject {
    Q_OBJECT

    std::string m_page;

    [[nodiscard]] static std::string lineOf(const std::string &section, const std::string &key)
    {
        const std::string table = keyTable(section);
        const std::size_t from = table.find("| `" + key + "` |");
        return from == std::string::npos ? std::string() : table.substr(from, table.find('\n', from) - from);
    }

private slots:
    void initTestCase()
    {
        QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/plan-file.md"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        m_page = file.readAll().toStdString();
    }

    void thePageOfThePlanFileHasTheTablesThatTheKeysMake()
    {
        QVERIFY2(withKeyTables(m_page) == m_page, "scripts/plan-keys writes docs/plan-file.md anew");
    }

    void everySectionHasItsTableOnThePage()
    {
        QVERIFY(keySections().size() > 10);
        for (const std::string &section : keySections()) {
            const std::string marker = "<!-- keys of " + (section.empty() ? "a plan" : section) + " -->\n";
            QVERIFY2(m_page.find(marker) != std::string::npos, section.c_str());
        }
    }

    void aTableIsMadeAnewAndAllElseStays()
    {
        const std::string page = "# Heterogeneity\n<!-- keys of heterogeneity -->\n| old | table |\n|---|---|\n\nIt "
                                 "ends.\n| another | table |\n";
        const std::string expected = "# Heterogeneity\n<!-- keys of heterogeneity -->\n" + keyTable("heterogeneity")
            + "\nIt ends.\n| another | table |\n";
        QCOMPARE(withKeyTables(page), expected);
        QCOMPARE(withKeyTables(expected), expected);
    }

    void aRowTellsRangeChoicesDefaultAndWhatAKeyAsksFor()
    {
        QCOMPARE(lineOf("cluster.wan_links[]", "rtt_ms"),
            std::string("| `rtt_ms` | Round-trip time, milliseconds; 0 to 1,000,000; required | |"));
        QCOMPARE(lineOf("cluster.wan_links[]", "capacity_gbps"),
            std::string("| `capacity_gbps` | Bandwidth of the link per direction, all node pairs together, 10⁹ bits/s; "
                        "above 0 | 100 |"));
        QCOMPARE(lineOf("heterogeneity", "compute"),
            std::string(
                "| `compute` | Work split evenly, or by what each GPU can do; `even` or `balanced` | `even` |"));
        QCOMPARE(lineOf("memory", "saved_activation_bits"),
            std::string("| `saved_activation_bits` | Bits of an activation kept for the backward pass; 1 to 16; fewer "
                        "affects convergence | as computed |"));
        QCOMPARE(lineOf("wan", "tcp_connections").find("or `\"auto\"`") != std::string::npos, true);
        QVERIFY(lineOf("memory", "offload_min_elements").ends_with("| 8,388,608 |"));
    }
};

TRAINYARD_APPLESS_TEST(TstKeyTables)
#include "tst_key_tables.moc"
