// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace trainyard;

class TstNumberText : public QObject {
    Q_OBJECT

private slots:
    void threeDigitsAreShown()
    {
        QCOMPARE(secondsText(11.8417), std::string("11.8 s"));
        QCOMPARE(secondsText(0.4123), std::string("412 ms"));
        QCOMPARE(secondsText(3.4e-6), std::string("3.40 \u00b5s"));
        QCOMPARE(bytesText(71.2e9), std::string("71.2 GB"));
        QCOMPARE(countText(41'234), std::string("41.2k"));
        QCOMPARE(wholeText(16384), std::string("16,384"));
        QCOMPARE(wholeText(999), std::string("999"));
        QCOMPARE(wholeText(-1234567), std::string("\u22121,234,567"));
        QCOMPARE(percentText(0.4312), std::string("43.1 %"));
        QCOMPARE(usdText(0.92), std::string("$0.92"));
        QCOMPARE(usdText(1.2e6), std::string("$1.20M"));
    }

    void whatIsSmallKeepsItsDigits()
    {
        QCOMPARE(percentText(0.000412), std::string("0.0412 %"));
        QCOMPARE(percentText(1 - 0.9 - 0.1), std::string("0 %")); // 1 − 0.9 − 0.1 = −2.8·10⁻¹⁷ in doubles
        QCOMPARE(usdText(0.01234), std::string("$0.0123"));
        QCOMPARE(secondsText(0), std::string("0 s"));
    }

    void whatIsLargeHasALargerUnit()
    {
        QCOMPARE(bytesText(2e15), std::string("2.00 PB"));
        QCOMPARE(usdText(999'600), std::string("$1.00M"));
    }

    void aWholeRateHasNoDecimals()
    {
        QCOMPARE(gbpsText(40), std::string("40 Gbps"));
        QCOMPARE(gbpsText(1600), std::string("1600 Gbps"));
        QCOMPARE(gbpsText(3.1), std::string("3.10 Gbps"));
    }

    void whatMayTakeDaysIsInTheUnitThatSuitsIt()
    {
        QCOMPARE(durationText(41.2), std::string("41.2 s"));
        QCOMPARE(durationText(599), std::string("599 s"));
        QCOMPARE(durationText(40.1 * 60), std::string("40.1 min"));
        QCOMPARE(durationText(5.4 * 3600), std::string("5.40 h"));
        QCOMPARE(durationText(3.1 * 86400), std::string("3.10 days"));
    }

    /// 0.0548 years are 20 days.
    void timesOfLifeAreInTheUnitThatSuitsThem()
    {
        QCOMPARE(yearsText(0.0548), std::string("20.0 days"));
        QCOMPARE(yearsText(7.0 / 12), std::string("7.0 months"));
        QCOMPARE(yearsText(3.24), std::string("3.2 years"));
        QCOMPARE(yearsText(31), std::string("31 years"));
        QCOMPARE(yearsText(1e6), std::string("over 100 years"));
        QCOMPARE(yearsText(std::nan("")), std::string("\u2013"));
    }

    void aUnitIsChosenAfterRounding()
    {
        QCOMPARE(secondsText(0.9996), std::string("1.00 s"));
        QCOMPARE(countText(999.6), std::string("1.00k"));
    }

    void theMinusSignIsOne()
    {
        QCOMPARE(changeText(2, 1), std::string("\u221250.0 %"));
        QCOMPARE(changeText(1, 2), std::string("+100 %"));
        QCOMPARE(changeText(1, 1), std::string("0 %"));
        QCOMPARE(changeText(0, 1), std::string());
        QCOMPARE(usdText(-5), std::string("\u2212$5.00"));
    }

    void whatIsNotANumberIsADash()
    {
        QCOMPARE(secondsText(std::numeric_limits<double>::infinity()), std::string("\u2013"));
        QCOMPARE(plainText(std::numeric_limits<double>::quiet_NaN()), std::string("\u2013"));
    }

    void columnsLineUpWhateverTheirLetters()
    {
        TextTable table({ TextTable::Align::Left, TextTable::Align::Right }, { "a", "b" });
        table.add({ "Köln", "\u2212 1" });
        table.add({ "Bonn", "23" });
        const QStringList lines = QString::fromStdString(table.text()).split(u'\n');
        QCOMPARE(lines[2], QStringLiteral("Köln  \u2212 1"));
        QCOMPARE(lines[3], QStringLiteral("Bonn   23"));
    }
};

TRAINYARD_APPLESS_TEST(TstNumberText)
#include "tst_number_text.moc"
