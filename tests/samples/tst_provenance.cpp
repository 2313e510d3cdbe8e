// SPDX-License-Identifier: GPL-3.0-or-later
// What is published, what is recalled and what is ours: resources/catalog/statements.json says it once, and whoever
// repeats a statement, in a page, a sample, a catalogue or a comment, gives it the same standing.
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

using Json = nlohmann::json;

namespace {

QString textOf(const QString &path)
{
    QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/") + path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QString standingOf(const Json &statement)
{
    return QString::fromStdString(statement["standing"].get<std::string>());
}

/// Words that tell a standing, wherever they stand.
struct Label {
    QString standing;
    qsizetype at;
};

std::vector<Label> labelsIn(const QString &text)
{
    static const QRegularExpression word(
        QStringLiteral("\\b(published|recalled|ours|our reading|derived here|fitted here)\\b"),
        QRegularExpression::CaseInsensitiveOption);
    std::vector<Label> labels;
    for (auto found = word.globalMatch(text); found.hasNext();) {
        const auto match = found.next();
        const QString said = match.captured(1).toLower();
        labels.push_back(
            { said == u"published" || said == u"recalled" ? said : QStringLiteral("ours"), match.capturedStart() });
    }
    return labels;
}

/// The label that a statement stands under: the last one before it in its paragraph, else the first one after it.
QString labelOf(const std::vector<Label> &labels, qsizetype at)
{
    QString found;
    for (const Label &label : labels) {
        if (label.at < at)
            found = label.standing;
        else if (found.isEmpty())
            return label.standing;
    }
    return found;
}

/// Paragraphs, items of lists, rows of tables, entries of a catalogue.
QStringList paragraphs(const QString &text)
{
    static const QRegularExpression border(QStringLiteral("\\n\\s*\\n|\\n(?=\\s*[*|\"{])|\\n(?=\\s*\\d+\\. )"));
    return text.split(border);
}

QStringList filesThatSpeak()
{
    QStringList files { QStringLiteral("README.md"), QStringLiteral("ARCHITECTURE.md"),
        QStringLiteral("CONTRIBUTING.md") };
    const QDir root(QStringLiteral(TRAINYARD_SOURCE_DIR));
    for (const char *folder : { "docs", "samples", "resources/catalog", "core", "models", "views", "app",
             "tests/samples", "tests/core/facts/cluster" }) {
        QDirIterator found(root.filePath(QLatin1String(folder)),
            { QStringLiteral("*.md"), QStringLiteral("*.json"), QStringLiteral("*.h"), QStringLiteral("*.cpp") },
            QDir::Files, QDirIterator::Subdirectories);
        while (found.hasNext())
            files.append(root.relativeFilePath(found.next()));
    }
    files.removeAll(QStringLiteral("docs/validation.md")); // written by a program, rows of other papers
    files.removeAll(QStringLiteral("resources/catalog/statements.json"));
    files.removeAll(QStringLiteral("tests/samples/tst_provenance.cpp"));
    return files;
}

} // namespace

class TstProvenance : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_catalogue = Json::parse(textOf(QStringLiteral("resources/catalog/statements.json")).toStdString());
        QVERIFY(m_catalogue["statements"].size() >= 8);
        for (const Json &statement : m_catalogue["statements"]) {
            QVERIFY(m_catalogue["standings"].contains(statement["standing"].get<std::string>()));
            QVERIFY(m_catalogue["sources"].contains(statement["source"].get<std::string>()));
        }
    }

    /// One row of the page a standing: all statements of it, in the catalogue's order and words.
    void thePageHasEveryStatementInTheRowOfItsStanding()
    {
        const QString page = textOf(QStringLiteral("docs/across-datacenters.md"));
        for (const auto &[standing, meaning] : m_catalogue["standings"].items()) {
            QStringList texts;
            for (const Json &statement : m_catalogue["statements"])
                if (statement["standing"] == standing)
                    texts.append(QString::fromStdString(statement["text"].get<std::string>()));
            const QString row =
                QStringLiteral("| %1: %2 | %3")
                    .arg(QString::fromStdString(standing), QString::fromStdString(meaning.get<std::string>()),
                        texts.join(QStringLiteral("; ")));
            QVERIFY2(page.contains(row),
                qPrintable(QStringLiteral("docs/across-datacenters.md should have the row\n") + row));
        }
    }

    void theSampleOfTheHeadlineSaysItInTheSameWords()
    {
        const Json sample = Json::parse(textOf(QStringLiteral("samples/atlas-headline.trainyard.json")).toStdString());
        const QString notes = QString::fromStdString(sample["notes"].get<std::string>());
        for (const Json &statement : m_catalogue["statements"]) {
            const QString text = QString::fromStdString(statement["text"].get<std::string>());
            QVERIFY2(notes.contains(text), qPrintable(text));
            QVERIFY2(labelOf(labelsIn(notes), notes.indexOf(text)) == standingOf(statement), qPrintable(text));
        }
    }

    void nobodyGivesAStatementAnotherStanding()
    {
        std::vector<std::pair<QRegularExpression, QString>> sayings;
        for (const Json &statement : m_catalogue["statements"])
            for (const Json &pattern : statement["said_as"])
                sayings.emplace_back(
                    QRegularExpression(QString::fromStdString(pattern.get<std::string>())), standingOf(statement));
        int repeated = 0;
        for (const QString &path : filesThatSpeak()) {
            const QString text = textOf(path);
            if (std::ranges::none_of(sayings, [&](const auto &saying) { return text.contains(saying.first); }))
                continue;
            for (const QString &paragraph : paragraphs(text)) {
                for (const auto &[said, standing] : sayings) {
                    for (auto found = said.globalMatch(paragraph); found.hasNext(); ++repeated) {
                        const auto match = found.next();
                        const QString label = labelOf(labelsIn(paragraph), match.capturedStart());
                        QVERIFY2(label == standing,
                            qPrintable(QStringLiteral("%1 calls \"%2\" %3; it is %4")
                                           .arg(path, match.captured(),
                                               label.isEmpty() ? QStringLiteral("nothing") : label, standing)));
                    }
                }
            }
        }
        QVERIFY2(repeated >= 12, qPrintable(QString::number(repeated)));
    }

private:
    Json m_catalogue;
};

TRAINYARD_APPLESS_TEST(TstProvenance)
#include "tst_provenance.moc"
