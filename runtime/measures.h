/* measures.h: the losses and metrics, one table for the language, the emitted programs and the runtime. */
#ifndef GNN_MEASURES_H
#define GNN_MEASURES_H

/* What the labels are that a loss or a metric is for. */
enum { GNN_FOR_CLASSES = 1, GNN_FOR_LABELS = 2 /* several of 0 and 1 a row */, GNN_FOR_NUMBERS = 4, GNN_FOR_PAIRS = 8 /* of candidate pairs, which are labels, too */ };

/* loss(name, as written, for, help) */
#define GNN_LOSSES(loss) \
  loss(CROSS_ENTROPY, "cross_entropy", GNN_FOR_CLASSES, "cross_entropy(out, y, weights = [1, 2], label_smoothing = 0): class scores against labels") \
  loss(BCE, "bce", GNN_FOR_LABELS, "bce(out, y, pos_weight = 1): scores before the sigmoid against labels of 0 and 1, or one score against class[2]") \
  loss(MSE, "mse", GNN_FOR_NUMBERS, "mse(out, y): squared differences") \
  loss(L1, "l1", GNN_FOR_NUMBERS, "l1(out, y): absolute differences") \
  loss(HUBER, "huber", GNN_FOR_NUMBERS, "huber(out, y, delta = 1): half the square up to delta, a line from there on") \
  loss(BPR, "bpr", GNN_FOR_PAIRS, "bpr(out, links.label): the score of each edge against those of its negatives, -log sigmoid of the difference (Rendle et al. 2009)")

/* metric(name, as written, larger is better, for, help). One number for each split. */
#define GNN_METRICS(metric) \
  metric(ACCURACY, "accuracy", 1, GNN_FOR_CLASSES | GNN_FOR_LABELS, "share of rows whose largest score is that of their class; of several labels, rows with all of them right") \
  metric(PRECISION, "precision", 1, GNN_FOR_CLASSES | GNN_FOR_LABELS, "right ones of those predicted: of class 1 where there are two, else the mean over classes") \
  metric(RECALL, "recall", 1, GNN_FOR_CLASSES | GNN_FOR_LABELS, "those found of those there are, likewise") \
  metric(F1, "f1", 1, GNN_FOR_CLASSES | GNN_FOR_LABELS, "harmonic mean of precision and recall: of class 1 where there are two, else the mean over classes") \
  metric(MICRO_F1, "micro_f1", 1, GNN_FOR_CLASSES | GNN_FOR_LABELS, "f1 of all decisions together; of classes the accuracy") \
  metric(MACRO_F1, "macro_f1", 1, GNN_FOR_CLASSES | GNN_FOR_LABELS, "mean over all classes of their f1") \
  metric(ROC_AUC, "roc_auc", 1, GNN_FOR_CLASSES | GNN_FOR_LABELS, "area under the ROC curve, ties counted half; the mean over labels, or of each class against the others") \
  metric(AVERAGE_PRECISION, "average_precision", 1, GNN_FOR_CLASSES | GNN_FOR_LABELS, "sum over thresholds of precision times the gain in recall; means as roc_auc's") \
  metric(RMSE, "rmse", 0, GNN_FOR_NUMBERS, "root of the mean squared error, the mean over columns") \
  metric(MAE, "mae", 0, GNN_FOR_NUMBERS, "mean absolute error") \
  metric(R2, "r2", 1, GNN_FOR_NUMBERS, "share of the variance that is explained, the mean over columns") \
  metric(HITS, "hits", 1, GNN_FOR_CLASSES | GNN_FOR_PAIRS, "hits(k): share of rows whose class is among the k largest scores, ties against it; of pairs, share of edges that fewer than k negatives of the split equal or exceed; watched as valid.hits3") \
  metric(MRR, "mrr", 1, GNN_FOR_CLASSES | GNN_FOR_PAIRS, "mean of 1 / place of the row's class among the scores, ties counted half; of pairs, of each edge among all negatives of the split")

#define GNN_LOSS_ENUMERATOR(name, ...) GNN_LOSS_##name,
#define GNN_METRIC_ENUMERATOR(name, ...) GNN_METRIC_##name,
typedef enum gnn_loss_kind { GNN_LOSSES(GNN_LOSS_ENUMERATOR) GNN_LOSS_COUNT } gnn_loss_kind;
typedef enum gnn_metric_kind { GNN_METRICS(GNN_METRIC_ENUMERATOR) GNN_METRIC_COUNT } gnn_metric_kind;

enum { GNN_METRIC_MAX = 16 }; /* of a program */

#endif
