from .discounts import suggested_discount as suggested_discount
from .evaluation import Evaluation as Evaluation
from .judge import judge_each as judge_each
from .locality import Locality as Locality
from .price import Price as Price
from .price import price_of_locality as price_of_locality
