#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a sweep as a window shows them: read beside it, with a column a varied key and a metric that has values,
// each with its name, its texts and which way is better; the front of two of them; the plan of a row. GUI thread.

#include "core/planner/sweep/sweep_table.h"
#include "models/background_queue.h"

#include <QObject>
#include <QStringList>

namespace trainyard {

struct SweepColumn {
    enum class Better { Lower, Higher, Neither };

    /// dotted: of the plan, or a metric
    std::string key;
    /// "Micro-batch", "Iteration time"
    QString label;
    /// a key of the plan
    bool isVaried = false;
    Better better = Better::Neither;
    /// of a key whose values are no numbers; a value is then a place among them
    QStringList choices;
    /// [row]; NaN: none
    std::vector<double> values;
    /// of them; the first is smaller
    double least = 0, most = 1;
    /// values that an axis names, rising: of a key all, of a metric none
    std::vector<double> ticks;

    /// with its unit
    [[nodiscard]] QString textOf(double value) const;
    /// The least and the most are far apart and above 0.
    [[nodiscard]] bool isLogarithmic() const;
};

class SweepResults : public QObject {
    Q_OBJECT
public:
    explicit SweepResults(QObject *parent = nullptr);
    ~SweepResults() override;

    /// Reads it in the background; what was open stays until then.
    void open(const QString &path);
    [[nodiscard]] const SweepTablePtr &table() const { return m_table; } // null: none was opened
    [[nodiscard]] bool isReading() const { return m_reading > 0; }
    [[nodiscard]] const std::vector<SweepColumn> &columns() const { return m_columns; }
    /// -1: none.
    [[nodiscard]] int column(std::string_view key) const;
    [[nodiscard]] std::size_t rows() const { return m_table ? m_table->rows() : 0; }
    [[nodiscard]] SweepState state(std::size_t row) const { return m_table->states[row]; }

    [[nodiscard]] std::size_t feasible() const { return m_feasible; } // of the rows
    /// Feasible rows of those that are shown which no other one outdoes in both columns, by the first column; empty
    /// where one of them has no better way. `shown`: [row], 0: left out; empty: all.
    [[nodiscard]] std::vector<std::size_t> front(int x, int y, const std::vector<char> &shown = {}) const;
    /// The plan of a row. Errors: values that contradict each other.
    [[nodiscard]] ExpectedAll<PlanPtr> plan(std::size_t row) const { return m_table->plan(row); }
    /// "Tensor parallel 4, Recompute full".
    [[nodiscard]] QString valuesText(std::size_t row) const;
    /// Rich text: its values, figures, and why it cannot run.
    [[nodiscard]] QString describe(std::size_t row) const;
    /// "1,620 rows: 24 feasible, 1,596 infeasible, 0 refused"; and how many are not there yet.
    [[nodiscard]] QString summary() const;

Q_SIGNALS:
    void opened();
    void failed(const QString &path, const trainyard::Errors &errors);

private:
    void take(SweepTablePtr table, std::vector<SweepColumn> columns);

    SweepTablePtr m_table;
    std::vector<SweepColumn> m_columns;
    std::size_t m_feasible = 0;
    int m_reading = 0;
    std::stop_source m_stop;
    /// last: waits for what is under way
    BackgroundQueue m_queue;
};

} // namespace trainyard
