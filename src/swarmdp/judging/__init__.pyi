from .discounts import suggested_discount as suggested_discount
from .evaluation import Evaluation as Evaluation
from .judge import judge_each as judge_each
