from .recorders import DiscountedFeatures as DiscountedFeatures
