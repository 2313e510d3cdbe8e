// SPDX-License-Identifier: GPL-3.0-or-later
// Blanks around a text, and letters in one case.
#include "core/base/ascii_text.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

class TstAsciiText : public QObject {
    Q_OBJECT

private slots:
    void blanksOfEveryKindGo()
    {
        using namespace std::string_view_literals;
        QVERIFY(trimmed(" \t\r\n\v\f\0 a b \0\n"sv) == "a b");
        QVERIFY(trimmedStart(" a ") == "a ");
        QVERIFY(trimmed(" \n").empty());
        QVERIFY(trimmed("").empty());
    }

    /// What is no letter of ASCII, and every byte of one that is longer, stays.
    void lettersOfAsciiAreSmall() { QCOMPARE(lowered("AZaz[@`{ 09 \xc3\x84"), std::string("azaz[@`{ 09 \xc3\x84")); }
};

TRAINYARD_APPLESS_TEST(TstAsciiText)
#include "tst_ascii_text.moc"
