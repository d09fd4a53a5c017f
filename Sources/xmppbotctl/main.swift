import Control
