// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/error.h"
#include "core/base/printable.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

class TstPrintable : public QObject {
    Q_OBJECT

private slots:
    void plainTextStaysAsItIs()
    {
        for (const char *text : { "", "Llama 3 70B", "Zürich → 東京 🙂", "a\\x1b" })
            QCOMPARE(printable(text), std::string(text));
    }

    void whatATerminalObeysIsEscaped()
    {
        QCOMPARE(printable("\x1b[31mred\x07\x7f"), std::string("\\x1b[31mred\\x07\\x7f"));
        QCOMPARE(printable("\u009b31m"), std::string("\\u009b31m")); // the C1 form of ESC [
        QCOMPARE(printable("a\u202eb\u2066c"), std::string("a\\u202eb\\u2066c")); // turns the direction of writing
        QCOMPARE(printable("one\ntwo\r"), std::string("one\\x0atwo\\x0d"));
        QCOMPARE(printable("one\ntwo\r", LineBreaks::Kept), std::string("one\ntwo\\x0d"));
        QCOMPARE(printable(std::string_view("a\0b", 3)), std::string("a\\x00b"));
    }

    void bytesThatAreNoTextAreShownOneByOne()
    {
        // A lone byte, an overlong form of "/", a surrogate, and a character cut short.
        QCOMPARE(printable("\xff|\xc0\xaf|\xed\xa0\x80|\xe2\x82"),
            std::string("\\xff|\\xc0\\xaf|\\xed\\xa0\\x80|\\xe2\\x82"));
        QVERIFY(isUtf8("Zürich 🙂") && !isUtf8("\xed\xa0\x80") && !isUtf8("\xc0\xaf"));
    }

    void aLongTextKeepsItsBeginAndItsEnd()
    {
        QCOMPARE(shortened("short", 10), std::string("short"));
        const std::string text = shortened("begin" + std::string(1'000'000, 'x') + "end", 60);
        QVERIFY(text.size() < 70 && text.starts_with("begin") && text.ends_with("end"));
        std::string wide;
        for (int i = 0; i < 100; ++i)
            wide += "東";
        for (std::size_t most = 3; most < 40; ++most)
            QVERIFY2(isUtf8(shortened(wide, most)), std::to_string(most).c_str());
    }

    void anErrorIsOneLineThatNoTerminalObeys()
    {
        const Error error { ErrorCode::BadValue, "p.json: /a\x1b[2J", "id is \"x\ny\"", "no \x07" };
        QCOMPARE(toString(error), std::string("p.json: /a\\x1b[2J: id is \"x\\x0ay\"; expected no \\x07"));
    }
};

TRAINYARD_APPLESS_TEST(TstPrintable)
#include "tst_printable.moc"
