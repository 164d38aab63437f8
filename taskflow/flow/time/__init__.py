"""Time schemes: how a step is made of stages. They know no equation and no grid."""
