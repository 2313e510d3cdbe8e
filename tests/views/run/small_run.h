#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A small run as files: a profiler's trace for each rank and a log of Megatron-LM, with figures that can be added up by
// hand. Each step has kLayers layers: every rank computes, then an all-reduce ends on all of them at once.

#include <QDir>
#include <QFile>
#include <QString>
#include <QStringList>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::testing {

struct SmallRun {
    int ranks = 4;
    int steps = 3, firstStep = 3; // of the profiler
    int loggedSteps = 12; // 1, 2, …; the first is a warm-up, which the log's reader leaves out
    int longStep = -1; // takes three times as long: a checkpoint
    double computeMs = 10, transferMs = 2; // of a layer
    int straggler = -1; // computes 1.5 times as long
    int missing = -1; // has no file
    double clockMs = 40; // rank r's clock shows r × this more
    static constexpr int kLayers = 4;

    [[nodiscard]] double computeOf(int rank) const { return rank == straggler ? 1.5 * computeMs : computeMs; }
    /// Every layer takes as long as its slowest rank and the transfer.
    [[nodiscard]] double stepMs() const { return kLayers * ((straggler >= 0 ? 1.5 : 1) * computeMs + transferMs); }

    [[nodiscard]] QByteArray trace(int rank) const
    {
        QStringList events;
        const auto add = [&](const QString &category, const QString &name, double startMs, double durationMs,
                             int thread, const QString &arguments) {
            const double start = 1.7e12 + rank * clockMs * 1e3 + startMs * 1e3; // µs
            events << QStringLiteral("{\"ph\":\"X\",\"cat\":\"%1\",\"name\":\"%2\",\"pid\":%3,\"tid\":%4,\"ts\":%5,"
                                     "\"dur\":%6,\"args\":{%7}}")
                          .arg(category, name)
                          .arg(thread == 7 ? 0 : 1000)
                          .arg(thread)
                          .arg(start, 0, 'f', 3)
                          .arg(durationMs * 1e3, 0, 'f', 3)
                          .arg(arguments);
        };
        const double slowest = (straggler >= 0 ? 1.5 : 1) * computeMs;
        int correlation = 1;
        for (int step = 0; step < steps; ++step) {
            double at = step * stepMs();
            add(QStringLiteral("user_annotation"), QStringLiteral("ProfilerStep#%1").arg(firstStep + step), at,
                stepMs(), 1, {});
            for (int layer = 0; layer < kLayers; ++layer) {
                const QString launch = QStringLiteral("\"correlation\":%1");
                const QString device = QStringLiteral("\"device\":0,\"stream\":7,\"correlation\":%1");
                for (const bool isCollective : { false, true }) {
                    const double begin = isCollective ? at + computeOf(rank) : at;
                    const double duration = isCollective ? slowest + transferMs - computeOf(rank) : computeOf(rank);
                    add(QStringLiteral("cuda_runtime"), QStringLiteral("cudaLaunchKernel"), begin, 0.001, 1,
                        launch.arg(correlation));
                    QString arguments = device.arg(correlation++);
                    if (isCollective)
                        arguments += QStringLiteral(",\"Collective name\":\"allreduce\",\"In msg nelems\":1048576,"
                                                    "\"Out msg nelems\":1048576,\"Group size\":%1,\"dtype\":\"Float\","
                                                    "\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[%2]\"")
                                         .arg(ranks)
                                         .arg(rankList());
                    add(QStringLiteral("kernel"),
                        isCollective ? QStringLiteral("ncclDevKernel_AllReduce_Sum_f32_RING_LL")
                                     : QStringLiteral("sm90_gemm_bf16"),
                        begin, duration, 7, arguments);
                }
                at += slowest + transferMs;
            }
        }
        return QStringLiteral("{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":%1,"
                              "\"world_size\":%2},\n\"traceEvents\":[\n%3\n]}\n")
            .arg(rank)
            .arg(ranks)
            .arg(events.join(QStringLiteral(",\n")))
            .toUtf8();
    }

    [[nodiscard]] QByteArray log() const
    {
        QString text;
        for (int step = 1; step <= loggedSteps; ++step)
            text += QStringLiteral(" [2026-01-01 00:00:%1] iteration %2/     100 | consumed samples: %3 | elapsed time "
                                   "per iteration (ms): %4 | throughput per GPU (TFLOP/s/GPU): %5 | learning rate: "
                                   "1.0E-04 | global batch size:     8 | lm loss: 2.000000E+00 | grad norm: 1.000 | "
                                   "number of skipped iterations:   0 | number of nan iterations:   0 |\n")
                        .arg(step, 2, 10, QLatin1Char('0'))
                        .arg(step, 8)
                        .arg(step * 8, 12)
                        .arg((step == 1                 ? 20
                                     : step == longStep ? 3
                                                        : 1)
                                    * stepMs()
                                + step * 0.1,
                            0, 'f', 1)
                        .arg(400.0 - step, 0, 'f', 1);
        return text.toUtf8();
    }

    /// Traces and log into a folder, which is made; its path.
    QString write(const QString &folder, bool withLog = true) const
    {
        QDir().mkpath(folder);
        const auto file = [&](const QString &name, const QByteArray &content) {
            QFile out(QDir(folder).filePath(name));
            if (out.open(QIODevice::WriteOnly))
                out.write(content);
        };
        for (int rank = 0; rank < ranks; ++rank)
            if (rank != missing)
                file(QStringLiteral("rank%1.pt.trace.json").arg(rank), trace(rank));
        if (withLog)
            file(QStringLiteral("train.log"), log());
        return folder;
    }

private:
    [[nodiscard]] QString rankList() const
    {
        QStringList all;
        for (int rank = 0; rank < ranks; ++rank)
            all << QString::number(rank);
        return all.join(QStringLiteral(", "));
    }
};

} // namespace trainyard::testing
