// SPDX-License-Identifier: GPL-3.0-or-later
// A release compiles the sources of a folder as one unit. What two of them call alike is one there: types and constants
// fail to compile, functions become overloads of each other in silence. So what the sources of a folder keep to
// themselves has different names.

#include "tests/layering/own_names.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QTest>

using trainyard::tests::OwnNames;

namespace {

QStringList ownNames(const char *source)
{
    QStringList names;
    for (const auto &[name, line] : OwnNames::of(source))
        names.append(QString::fromStdString(name));
    return names;
}

/// Folder, name, and the files that declare it, with their lines.
std::map<QString, std::map<QString, QStringList>> namesOfFolders()
{
    const QDir root(QStringLiteral(TRAINYARD_SOURCE_DIR));
    std::map<QString, std::map<QString, QStringList>> found;
    for (const char *folder : { "core", "models", "views", "app" }) {
        QDirIterator files(root.filePath(QLatin1String(folder)), { QStringLiteral("*.cpp") }, QDir::Files,
            QDirIterator::Subdirectories);
        while (files.hasNext()) {
            QFile file(files.next());
            if (!file.open(QIODevice::ReadOnly))
                continue;
            auto &names = found[root.relativeFilePath(files.fileInfo().path())];
            for (const auto &[name, line] : OwnNames::of(file.readAll().toStdString()))
                names[QString::fromStdString(name)].append(files.fileName() + QLatin1Char(':') + QString::number(line));
        }
    }
    return found;
}

} // namespace

class TstUnits : public QObject {
    Q_OBJECT

private slots:
    void theSourcesOfAFolderCallNothingOfTheirOwnAlike()
    {
        QStringList alike;
        std::size_t read = 0;
        for (const auto &[folder, names] : namesOfFolders()) {
            read += names.size();
            for (auto [name, places] : names) {
                places.sort();
                if (places.size() > 1)
                    alike.append(folder + QStringLiteral(": ") + name + QStringLiteral(" in ")
                        + places.join(QStringLiteral(", ")));
            }
        }
        QVERIFY(read > 3000);
        QVERIFY2(alike.isEmpty(), qPrintable(QLatin1Char('\n') + alike.join(QLatin1Char('\n'))));
    }

    void aScannerFindsEveryKindOfName_data()
    {
        QTest::addColumn<QByteArray>("code");
        QTest::addColumn<QStringList>("names");
        const auto row = [](const char *title, const char *code, const QStringList &names) {
            QTest::newRow(title) << QByteArray("namespace a {\nnamespace {\n") + code + "\n}\nint seen() { }\n}\n"
                                 << names;
        };
        row("a function", "int f(int x) { return x; }", { "f" });
        row("a function that is only declared", "[[nodiscard]] std::vector<int> f(int x = 3);", { "f" });
        row("a function with a trailing type", "auto f() noexcept -> std::map<int, int> { }", { "f" });
        row("a function of templates", "template <class T, int N = (2 > 1)> requires C<T> T f(T x) { }", { "f" });
        row("a type", "struct S { int x; void g() { } };", { "S" });
        row("a type with bases", "class C final : public B<int>, D { };", { "C" });
        row("an enumeration", "enum class E : unsigned char { One, Two };", { "E" });
        row("a type that is only declared", "struct S;", { "S" });
        row("a type and its variable", "struct { int x; } kOnly = { 1 };", { "kOnly" });
        row("an alias", "using A = std::map<int, int>;\ntypedef std::set<int> B;", { "A", "B" });
        row("an alias of templates", "template <class T> using A = V<T>;", { "A" });
        row("a constant", "constexpr double kA = 1'000.5;", { "kA" });
        row("constants in a row", "const char *const kA = f(1, 2), *const kB = x<3, 4>::y, kC { 5 };",
            { "kA", "kB", "kC" });
        row("a constant in braces", "const std::pair<int, int> kA { 1, 2 };", { "kA" });
        row("constants in parentheses", "const Expression kA(text(\"(\"), 2), kB(3);", { "kA", "kB" });
        row("an array", "constexpr const char *kA[] = { \"x\", \"}\" };\nint kB[2][3];", { "kA", "kB" });
        row("a variable", "std::mutex mutex;\nstruct stat last { };", { "last", "mutex" });
        row("a pointer to a function", "void (*hook)(int) = nullptr;", { "hook" });
        row("a lambda", "constexpr auto isOdd = [](int x) { const bool y = x % 2; return y; };", { "isOdd" });
        row("a concept", "template <class T> concept C = requires(T t) { t.x; };", { "C" });
        row("what stands behind a macro", "MACRO(x, \"y\")\nint f() { }\nstatic_assert(1 < 2);\nint g() { }",
            { "f", "g" });
        row("a member defined outside", "struct S { S(); };\nS::S()\n: m_x(1), m_y { 2 } { }\nint f() { }",
            { "S", "f" });
        row("a guide", "template <class... T> struct O : T... { };\ntemplate <class... T> O(T...) -> O<T...>;",
            { "O" });
        row("what is C's", "extern \"C\" {\nint f() { }\n}\nextern \"C\" int g();", { "f", "g" });
        row("an inner unnamed namespace", "namespace { int f() { } }\nnamespace b { int g() { } }", { "f" });
    }

    void aScannerFindsEveryKindOfName()
    {
        QFETCH(QByteArray, code);
        QFETCH(QStringList, names);
        QCOMPARE(ownNames(code.constData()), names);
    }

    void aScannerFindsNothingElse_data()
    {
        QTest::addColumn<QByteArray>("code");
        const auto row = [](const char *title, const char *code) { QTest::newRow(title) << QByteArray(code); };
        row("locals", "void f() { struct S { }; constexpr int kA = 1; static int b; using C = int; auto g = [] { }; }");
        row("members", "struct S { static int f(); enum E { One }; int x = 1; static constexpr int kA = 2; };");
        row("names of a namespace", "namespace a { int f() { } struct S { }; constexpr int kA = 1; extern int x; }");
        row("a brace in quotes", "const char *text = \"namespace { int f();\"; char c = '{'; char d = '\\'';");
        row("a raw string", "auto text = R\"x(namespace { \" )\" int f();)x\";");
        row("comments", "// namespace {\\\nint f();\n/* namespace {\nint f(); */");
        row("directives", "#define X namespace { \\\n int f();\n  #  if 0\n");
        row("operators", "namespace { bool operator==(A, A) { } std::ostream &operator<<(std::ostream &, A); }");
        row("using declarations", "namespace { using std::swap; using namespace std::literals; }");
        row("members of other types", "namespace { int Outer::f() { } std::array<int, 2> Outer::s_x; }");
    }

    void aScannerFindsNothingElse()
    {
        QFETCH(QByteArray, code);
        QCOMPARE(ownNames(code.constData()), QStringList());
    }

    void staticFunctionsAreTheirFilesOwnToo()
    {
        QCOMPARE(ownNames("namespace a {\nstatic int f() { static int x; }\nint g() { }\nstatic bool h;\n}"),
            QStringList({ "f", "h" }));
    }

    void aNameHasTheLineThatDeclaresItFirst()
    {
        const auto names = OwnNames::of("namespace {\n\nint f();\n// \"\n/* \n*/ int g() { }\nint f() { }\n}\n");
        QCOMPARE(names.at("f"), 3);
        QCOMPARE(names.at("g"), 6);
    }
};

TRAINYARD_APPLESS_TEST(TstUnits)
#include "tst_units.moc"
