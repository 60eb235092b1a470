from .energy import local_energy as local_energy
from .exploring import ExploringGrids as ExploringGrids
from .grids import are_all_sites as are_all_sites
from .grids import are_spins as are_spins
from .grids import put_on_grid as put_on_grid
from .grids import start_grids as start_grids
from .steps import count_steps as count_steps
