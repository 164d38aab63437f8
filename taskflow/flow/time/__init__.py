"""Time schemes: stages of a step. They know no equation and no grid."""
